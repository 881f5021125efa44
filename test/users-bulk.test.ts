import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { deleteClient } from '../src/clients/client-changes.ts'
import { createClient } from '../src/clients/clients.ts'
import type { Scope } from '../src/ctx.ts'
import { platformCtx } from '../src/ctx.ts'
import { dbFor } from '../src/db.ts'
import { apiAudienceOf } from '../src/oidc/keys/keys.ts'
import { issueAccessToken } from '../src/oidc/token/access-tokens.ts'
import { getUserByEmail } from '../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'
import { theContract } from './support/openapi.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
/** What is in use, and not only not yet cleared away. */
function liveBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

// biome-ignore lint/suspicious/noExplicitAny: lines are compared whole
type Line = any

const NDJSON = 'application/x-ndjson'
/** A lost right takes effect within a second (design, section 5). */
const MORE_THAN_A_SECOND_MS = 1100
const pathOf = (tenant: string, rest: string) => `/${tenant}/api/v1/users/${rest}`
const person = (n: number) => ({ externalId: `crm-${n}`, email: `p${n}@example.com`, name: `Person ${n}` })
const people = (count: number, from = 1) => Array.from({ length: count }, (_, i) => person(from + i))
const toText = (lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

const post = (
  tenant: string,
  token: string | null,
  body: string,
  headers: Record<string, string> = {},
  query = '',
) =>
  app.fetch(pathOf(tenant, `import${query}`), {
    method: 'POST',
    headers: {
      'content-type': NDJSON,
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body,
  })
const linesOf = async (response: Response): Promise<Line[]> => {
  const text = await response.text()
  expect(text.endsWith('\n')).toBe(true)
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** An import on a socket of its own, whose lines are read while it goes on being sent. */
async function openImport(tenant: string, token: string, query = '') {
  const url = new URL(pathOf(tenant, `import${query}`), app.origin)
  const sent: ClientRequest = httpRequest(url, {
    method: 'POST',
    headers: { 'content-type': NDJSON, authorization: `Bearer ${token}` },
  })
  sent.on('error', () => {})
  sent.flushHeaders()
  let text = ''
  let ended: 'end' | 'cut' | undefined
  let wake: () => void = () => {}
  sent.on('response', (response: IncomingMessage) => {
    response.setEncoding('utf8')
    response.on('data', (chunk) => {
      text += chunk
      wake()
    })
    response.on('end', () => {
      ended = response.complete ? 'end' : 'cut'
      wake()
    })
    response.on('error', () => {
      ended = 'cut'
      wake()
    })
  })
  /** The next line; null after the last one. */
  const next = async (): Promise<Line | null> => {
    for (;;) {
      const at = text.indexOf('\n')
      if (at >= 0) {
        const line = JSON.parse(text.slice(0, at))
        text = text.slice(at + 1)
        return line
      }
      if (ended) return null
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return { sent, next, ended: () => ended }
}

/** A caller who may import, in a tenant of their own, until they may not. */
async function importer() {
  const tenant = await newTenant()
  const platform = platformCtx(tenant)
  const { client } = await createClient(platform, {
    name: 'Importer',
    appType: 'machine',
    type: 'login',
    scopes: ['users:write'],
  })
  const token = await issueAccessToken(tenant, {
    subject: client.id,
    clientId: client.id,
    scopes: ['users:write'],
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 600,
  })
  return { tenant, token, revoke: () => deleteClient(platform, client.id) }
}

describe('POST /users/import', () => {
  it('answers a line for each line, as openapi.json says', async () => {
    const tenant = await newTenant()
    const token = await tokenFor(tenant)
    const response = await post(tenant, token, toText([person(1), { email: 'x' }, person(2)]))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(NDJSON)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-request-id')).toBeTruthy()
    const lines = await linesOf(response)
    expect(lines).toMatchObject([
      { line: 1, status: 'created' },
      { line: 2, status: 'error', code: 'BAD_USER_INPUT', fields: [{ field: 'email' }] },
      { line: 3, status: 'created' },
      { summary: { lastLine: 3, created: 2, failed: 1 } },
    ])
    const ofLine = (path: string, method: string) =>
      `paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method}/responses/200/content/application~1x-ndjson/schema`
    for (const line of lines)
      expect((await theContract()).faultsAt(ofLine('/users/import', 'post'), line)).toEqual([])
    const exported = await linesOf(
      await app.fetch(pathOf(tenant, 'export'), { headers: { authorization: `Bearer ${token}` } }),
    )
    expect(exported).toHaveLength(2)
    for (const line of exported)
      expect((await theContract()).faultsAt(ofLine('/users/export', 'get'), line)).toEqual([])
  })

  it('gives results while lines are still being sent', async () => {
    const tenant = await newTenant()
    const upload = await openImport(tenant, await tokenFor(tenant))
    for (const n of [1, 2, 3]) {
      upload.sent.write(toText([person(n)]))
      expect(await upload.next()).toMatchObject({ line: n, status: 'created' })
    }
    upload.sent.end(JSON.stringify(person(4)))
    expect(await upload.next()).toMatchObject({ line: 4, status: 'created' })
    expect(await upload.next()).toMatchObject({ summary: { lastLine: 4, created: 4 } })
    expect(await upload.next()).toBeNull()
    expect(upload.ended()).toBe('end')
  })

  it('goes on where a dropped connection left it', async () => {
    const tenant = await newTenant()
    const token = await tokenFor(tenant)
    const lines = people(40)
    const upload = await openImport(tenant, token)
    upload.sent.write(toText(lines.slice(0, 25)))
    let last = 0
    while (last < 25) last = (await upload.next()).line
    upload.sent.write(toText(lines.slice(25, 30)).slice(0, -10))
    upload.sent.destroy()
    const response = await post(tenant, token, toText(lines), {}, `?startLine=${last + 1}`)
    const results = await linesOf(response)
    expect(results[0].line).toBe(26)
    expect(results.at(-1)).toMatchObject({ summary: { lastLine: 40, failed: 0 } })
    const again = await linesOf(await post(tenant, token, toText(lines)))
    expect(again.at(-1)).toEqual({
      summary: { lastLine: 40, created: 0, updated: 0, unchanged: 40, failed: 0 },
    })
  })

  it('says at once what it cannot do at all', async () => {
    const tenant = await newTenant()
    const token = await tokenFor(tenant)
    const codeOf = async (response: Response) => [response.status, ((await response.json()) as Line).code]
    expect(await codeOf(await post(tenant, null, '{}'))).toEqual([401, 'UNAUTHENTICATED'])
    const reader = await tokenFor(tenant, ['users:read'] satisfies Scope[])
    expect(await codeOf(await post(tenant, reader, '{}'))).toEqual([403, 'FORBIDDEN'])
    const asJson = await post(tenant, token, '{}', { 'content-type': 'application/json' })
    expect(await codeOf(asJson)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    const packed = await post(tenant, token, '{}', { 'content-encoding': 'gzip' })
    expect(await codeOf(packed)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    const faulty = await post(tenant, token, '{}', {}, '?startLine=1e3&matchBy=name&page=1')
    expect(faulty.status).toBe(400)
    const several = await post(tenant, token, '{}', {}, '?startLine=0&matchBy=foo&x=1')
    const { fields } = (await several.json()) as { fields: { field: string }[] }
    expect([several.status, fields.map(({ field }) => field)]).toEqual([400, ['x', 'matchBy', 'startLine']])
    for (const query of ['?startLine=1e3&matchBy=name', '?page=1'])
      expect((await post(tenant, token, '{}', {}, query)).status).toBe(400)
    const method = await app.fetch(pathOf(tenant, 'import'), { method: 'PUT' })
    expect([method.status, method.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await ctxFor(tenant)).tenant).toBe(tenant)
  })

  it('ends within a second or so once the caller has lost their right, and says so', async () => {
    const { tenant, token, revoke } = await importer()
    const upload = await openImport(tenant, token)
    upload.sent.write(toText([person(1)]))
    expect(await upload.next()).toMatchObject({ status: 'created' })
    await revoke()
    let line: Line
    for (let n = 2; !line?.error; n++) {
      expect(n).toBeLessThan(1000)
      upload.sent.write(toText([person(n)]))
      line = await upload.next()
    }
    expect(line).toMatchObject({ error: { code: 'UNAUTHENTICATED' } })
    expect(await upload.next()).toBeNull()
    // What the client sends on after that is not waited for.
    await once(upload.sent, 'close')
  })

  it('writes nothing of what is held back until the right is lost', async () => {
    const { tenant, token, revoke } = await importer()
    const upload = await openImport(tenant, token)
    upload.sent.write(toText([person(1)]))
    expect(await upload.next()).toMatchObject({ status: 'created' })
    await revoke()
    await sleep(MORE_THAN_A_SECOND_MS)
    upload.sent.write(toText(people(400, 2)))
    expect(await upload.next()).toMatchObject({ error: { code: 'UNAUTHENTICATED' } })
    expect(await dbFor(tenant).user.count({ where: { tenantId: tenant } })).toBe(1)
  })

  it('is one of ten that a tenant has under way, exports included; who drops it makes room', async () => {
    const tenant = await newTenant()
    const token = await tokenFor(tenant)
    const uploads = await Promise.all(Array.from({ length: 10 }, () => openImport(tenant, token)))
    for (const [i, upload] of uploads.entries()) {
      upload.sent.write(toText([person(i)]))
      await upload.next()
    }
    const headers = { authorization: `Bearer ${token}` }
    for (const refused of [
      await post(tenant, token, toText([person(11)])),
      await app.fetch(pathOf(tenant, 'export'), { headers }),
    ]) {
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
      expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED' })
    }
    const other = await newTenant()
    expect((await post(other, await tokenFor(other), toText([person(1)]))).status).toBe(200)
    uploads[0]?.sent.destroy()
    await expect
      .poll(async () => (await app.fetch(pathOf(tenant, 'export'), { headers, method: 'HEAD' })).status)
      .toBe(200)
    // Those that came to their end make room as well: none of these, and not the question above, is left.
    for (let i = 0; i < 3; i++)
      expect(await linesOf(await app.fetch(pathOf(tenant, 'export'), { headers }))).toHaveLength(10)
    for (const { sent } of uploads) sent.destroy()
  })

  it('does not read on for a client that reads no results', async () => {
    const tenant = await newTenant()
    const token = await tokenFor(tenant)
    const sent = httpRequest(new URL(pathOf(tenant, 'import'), app.origin), {
      method: 'POST',
      headers: { 'content-type': NDJSON, authorization: `Bearer ${token}` },
    })
    const answered = once(sent, 'response')
    // Each answers far more than it takes.
    const line = Buffer.from(`{${Array.from({ length: 150 }, (_, i) => `"x${i}":0`).join(',')}}\n`)
    let written = 0
    let isBlocked = false
    sent.on('drain', () => {
      isBlocked = false
    })
    const LIMIT = 200_000_000
    while (written < LIMIT) {
      isBlocked = !sent.write(line)
      written += line.length
      for (let turn = 0; isBlocked && turn < 200; turn++)
        await new Promise((resolve) => setTimeout(resolve, 10))
      if (isBlocked) break
    }
    expect(isBlocked).toBe(true)
    expect(written).toBeLessThan(LIMIT / 2)
    const [response] = (await answered) as [IncomingMessage]
    // It goes on as soon as they are read.
    response.resume()
    if (isBlocked) await once(sent, 'drain')
    sent.destroy()
  })

  it('holds no more of a long file than of a short one', async () => {
    const tenant = await newTenant()
    const token = await tokenFor(tenant)
    const LINES = process.env.DATABASE_URL ? 50_000 : 10_000
    const upload = await openImport(tenant, token)
    const heap: number[] = []
    const send = async () => {
      for (let n = 1; n <= LINES; n += 100)
        if (!upload.sent.write(toText(people(100, n)))) await once(upload.sent, 'drain')
      upload.sent.end()
    }
    const sending = send()
    for (let line = await upload.next(), n = 0; line; line = await upload.next(), n++) {
      if (line.summary) expect(line.summary).toMatchObject({ created: LINES, failed: 0 })
      if (n % 5000 === 0) heap.push(liveBytes())
    }
    await sending
    // A hundred bytes kept of each of 50,000 lines would be as much.
    expect(Math.max(...heap) - (heap[0] ?? 0)).toBeLessThan(5_000_000)
    const response = await app.fetch(pathOf(tenant, 'export'), {
      headers: { authorization: `Bearer ${token}` },
    })
    let count = 0
    for await (const chunk of response.body as ReadableStream<Uint8Array>)
      for (const byte of chunk) if (byte === 10) count++
    expect(count).toBe(LINES)
  }, 120_000)
})

describe('GET /users/export', () => {
  it('gives each user a line, and goes on behind one', async () => {
    const tenant = await newTenant()
    const token = await tokenFor(tenant)
    await linesOf(await post(tenant, token, toText(people(3))))
    const get = (query = '', as = token, method = 'GET') =>
      app.fetch(pathOf(tenant, `export${query}`), { method, headers: { authorization: `Bearer ${as}` } })
    const lines = await linesOf(await get())
    expect(lines).toMatchObject(people(3))
    expect(Object.keys(lines[0]).slice(0, 2)).toEqual(['id', 'name'])
    expect(await linesOf(await get(`?afterId=${lines[1].id}`))).toEqual([lines[2]])
    expect(await (await get(`?afterId=${lines[2].id}`)).text()).toBe('')
    expect((await get('?afterId=nobody')).status).toBe(400)
    expect((await get('', await tokenFor(tenant, ['users:write'] satisfies Scope[]))).status).toBe(403)
    const [line] = await linesOf(await get('', await tokenFor(tenant, ['users:read'] satisfies Scope[])))
    expect(line).not.toHaveProperty('appMetadata')
    const head = await get('', token, 'HEAD')
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, NDJSON, ''])
  })

  it('is cut off for a reader that takes nothing for a minute', async () => {
    const tenant = await newTenant()
    const token = await tokenFor(tenant)
    const limits: unknown[] = []
    const watch = (message: unknown) => {
      const { socket } = message as { socket: Socket }
      vi.spyOn(socket, 'setTimeout').mockImplementation((limit) => {
        limits.push(limit)
        return socket
      })
    }
    subscribe('http.server.request.start', watch)
    await (
      await app.fetch(pathOf(tenant, 'export'), { headers: { authorization: `Bearer ${token}` } })
    ).text()
    unsubscribe('http.server.request.start', watch)
    vi.restoreAllMocks()
    expect(limits).toContain(60_000)
  })

  it('is of the own tenant alone', async () => {
    const [ours, theirs] = [await newTenant(), await newTenant()]
    await linesOf(await post(theirs, await tokenFor(theirs), toText([person(1)])))
    const token = await tokenFor(ours)
    const response = await app.fetch(pathOf(ours, 'export'), {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(await response.text()).toBe('')
    // The same keys are of other users here.
    expect(await linesOf(await post(ours, token, toText([{ ...person(1), name: 'Ours' }])))).toMatchObject([
      { status: 'created' },
      {},
    ])
    expect(await getUserByEmail(await ctxFor(theirs), 'p1@example.com')).toMatchObject({ name: 'Person 1' })
  })
})
