import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished } from 'vitest'
import { deleteClient } from '../../src/clients/client-changes.ts'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { NDJSON } from '../../src/core/json/ndjson.ts'
import { TIMEOUTS_MS } from '../../src/http/connection-timeouts.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import type { Json } from '../support/json.ts'
import { getContract } from '../support/openapi.ts'
import { toNdjson, userLine, userLines } from '../support/user-lines.ts'
import { test as base, readLines } from '../support/user-transfer.ts'

/** With a caller whose client can be deleted. */
const test = base.extend('newImporter', ({ tenant }) => async () => {
  const platform = createPlatformCtx(tenant)
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
  return { token, revoke: () => deleteClient(platform, client.id) }
})

/** A revocation takes effect within a second. */
const REVOCATION_MS = 1100

describe('POST /users/import', () => {
  test('returns a result for each line, as openapi.json documents', async ({ upload, download }) => {
    const response = await upload(toNdjson([userLine(1), { email: 'x' }, userLine(2)]))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(NDJSON)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-request-id')).toBeTruthy()
    const lines = await readLines(response)
    expect(lines).toMatchObject([
      { line: 1, status: 'created' },
      { line: 2, status: 'error', code: 'BAD_USER_INPUT', fields: [{ field: 'email' }] },
      { line: 3, status: 'created' },
      { summary: { lastLine: 3, created: 2, failed: 1 } },
    ])
    const ofLine = (path: string, method: string) =>
      `paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method}/responses/200/content/application~1x-ndjson/schema`
    for (const line of lines)
      expect((await getContract()).findIssues(ofLine('/users/import', 'post'), line)).toEqual([])
    const exported = await readLines(await download())
    expect(exported).toHaveLength(2)
    for (const line of exported)
      expect((await getContract()).findIssues(ofLine('/users/export', 'get'), line)).toEqual([])
  })

  test('returns results while the client is sending lines', async ({ openImport }) => {
    const running = openImport()
    for (const n of [1, 2, 3]) {
      running.sent.write(toNdjson([userLine(n)]))
      expect(await running.next()).toMatchObject({ line: n, status: 'created' })
    }
    running.sent.end(JSON.stringify(userLine(4)))
    expect(await running.next()).toMatchObject({ line: 4, status: 'created' })
    expect(await running.next()).toMatchObject({ summary: { lastLine: 4, created: 4 } })
    expect(await running.next()).toBeNull()
    expect(running.ended()).toBe('end')
  })

  test('continues after a dropped connection at startLine', async ({ upload, openImport }) => {
    const lines = userLines(40)
    const running = openImport()
    running.sent.write(toNdjson(lines.slice(0, 25)))
    let last = 0
    while (last < 25) last = (await running.next()).line
    running.sent.write(toNdjson(lines.slice(25, 30)).slice(0, -10))
    running.sent.destroy()
    const response = await upload(toNdjson(lines), { query: `?startLine=${last + 1}` })
    const results = await readLines(response)
    expect(results[0].line).toBe(26)
    expect(results.at(-1)).toMatchObject({ summary: { lastLine: 40, failed: 0 } })
    const again = await readLines(await upload(toNdjson(lines)))
    expect(again.at(-1)).toEqual({
      summary: { lastLine: 40, created: 0, updated: 0, unchanged: 40, failed: 0 },
    })
  })

  test('rejects a caller without users:write, other media types and encodings, unknown parameters and PUT', async ({
    app,
    tenant,
    upload,
  }) => {
    const codeOf = async (response: Response) => [response.status, ((await response.json()) as Json).code]
    expect(await codeOf(await upload('{}', { token: null }))).toEqual([401, 'UNAUTHENTICATED'])
    const reader = await tokenFor(tenant, ['users:read'])
    expect(await codeOf(await upload('{}', { token: reader }))).toEqual([403, 'FORBIDDEN'])
    const asJson = await upload('{}', { headers: { 'content-type': 'application/json' } })
    expect(await codeOf(asJson)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    const packed = await upload('{}', { headers: { 'content-encoding': 'gzip' } })
    expect(await codeOf(packed)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    const invalid = await upload('{}', { query: '?startLine=1e3&matchBy=name&page=1' })
    expect(invalid.status).toBe(400)
    const several = await upload('{}', { query: '?startLine=0&matchBy=foo&x=1' })
    const { fields } = (await several.json()) as { fields: { field: string }[] }
    expect([several.status, fields.map(({ field }) => field)]).toEqual([400, ['x', 'matchBy', 'startLine']])
    for (const query of ['?startLine=1e3&matchBy=name', '?page=1'])
      expect((await upload('{}', { query })).status).toBe(400)
    const method = await app.fetch(`/${tenant}/api/v1/users/import`, { method: 'PUT' })
    expect([method.status, method.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('ends with UNAUTHENTICATED once the client of the caller is deleted', async ({
    openImport,
    newImporter,
  }) => {
    const { linger } = TIMEOUTS_MS
    TIMEOUTS_MS.linger = linger / 20
    onTestFinished(() => {
      TIMEOUTS_MS.linger = linger
    })
    const { token, revoke } = await newImporter()
    const running = openImport(token)
    running.sent.write(toNdjson([userLine(1)]))
    expect(await running.next()).toMatchObject({ status: 'created' })
    await revoke()
    let line: Json
    for (let n = 2; !line?.error; n++) {
      expect(n).toBeLessThan(1000)
      running.sent.write(toNdjson([userLine(n)]))
      line = await running.next()
    }
    expect(line).toMatchObject({ error: { code: 'UNAUTHENTICATED' } })
    expect(await running.next()).toBeNull()
    // The server closes the connection without reading the rest of the request.
    await once(running.sent, 'close')
  })

  test('stores no line that is sent after the client of the caller is deleted', async ({
    tenant,
    openImport,
    newImporter,
  }) => {
    const { token, revoke } = await newImporter()
    const running = openImport(token)
    running.sent.write(toNdjson([userLine(1)]))
    expect(await running.next()).toMatchObject({ status: 'created' })
    await revoke()
    await sleep(REVOCATION_MS)
    running.sent.write(toNdjson(userLines(400, 2)))
    expect(await running.next()).toMatchObject({ error: { code: 'UNAUTHENTICATED' } })
    expect(await dbFor(tenant).user.count({ where: { tenantId: tenant } })).toBe(1)
  })

  test('rejects an eleventh import or export of a tenant until one of the ten ends', async ({
    token,
    upload,
    openImport,
    download,
  }) => {
    const uploads = Array.from({ length: 10 }, () => openImport())
    for (const [i, running] of uploads.entries()) {
      running.sent.write(toNdjson([userLine(i)]))
      await running.next()
    }
    for (const rejected of [await upload(toNdjson([userLine(11)])), await download()]) {
      expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '1'])
      expect(await rejected.json()).toMatchObject({ code: 'RATE_LIMITED' })
    }
    expect((await upload(toNdjson([userLine(1)]), { tenant: await newTenant() })).status).toBe(200)
    uploads[0]?.sent.destroy()
    await expect.poll(async () => (await download('', token, 'HEAD')).status).toBe(200)
    // A transfer that ended is not counted: neither these exports nor the HEAD request.
    for (let i = 0; i < 3; i++) expect(await readLines(await download())).toHaveLength(10)
    for (const { sent } of uploads) sent.destroy()
  })
})
