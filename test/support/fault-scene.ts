import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { withConnection } from './databases.ts'
import { csrfIn, PageBrowser } from './page-browser.ts'
import { freePort, operatorToken, type ServerProcess, startServer } from './process.ts'
import { answerIn, authorizePath, basic, REDIRECT_URI, refreshWith, VERIFIER } from './protocol.ts'
import { callRest, makeTenant, newServerEnv, SCOPES } from './started-servers.ts'

const QUERY = `subscription ($after: String) {
  events(after: $after, types: [USER_CREATED]) { ... on AuditEvent { subjectIds } }
}`
type Payload = { data?: { events?: { subjectIds?: string[] } } }

/**
 * Follows the creation of users until the signal aborts, and adds their ids to `delivered`. Resumes from the
 * last position (`id:`) whenever the stream ends. `onOpen` is called once the stream delivers every later
 * event.
 */
export async function followCreatedUsers(
  server: ServerProcess,
  tenant: string,
  token: string,
  delivered: string[],
  signal: AbortSignal,
  onOpen: () => void,
): Promise<void> {
  let after: string | null = null
  while (!signal.aborted) {
    try {
      const response = await fetch(`${server.origin}/${tenant}/graphql`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream',
          authorization: `Bearer ${token}`,
        },
        body: JSON.stringify({ query: QUERY, variables: { after } }),
        signal,
      })
      if (response.ok) onOpen()
      let buffered = ''
      let message: { position: string | null; ids: string[] } = { position: null, ids: [] }
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        buffered += chunk
        const lines = buffered.split('\n')
        buffered = lines.pop() ?? ''
        for (const line of lines) {
          if (line.startsWith('id: ')) message.position = line.slice(4)
          if (line.startsWith('data: {'))
            message.ids = (JSON.parse(line.slice(6)) as Payload).data?.events?.subjectIds ?? []
          if (line) continue
          // A message whose empty line was not received does not count, and follows again.
          delivered.push(...message.ids)
          after = message.position ?? after
          message = { position: null, ids: [] }
        }
      }
    } catch {
      // The stream is resumed.
    }
    await sleep(100)
  }
}

export const TENANT = 'faults'
const WRITERS = 4
const PEOPLE = 2

/** What happened while parts of a server failed. */
export type FaultLoad = {
  token: string
  client: { id: string; secret: string }
  /** Users whose creation was answered 201. */
  acknowledged: string[]
  /** Users whose creation the live subscription has delivered, in order. */
  delivered: string[]
  /** The newest refresh token of each sign-in that went through. */
  refreshTokens: string[]
  /** Answers that are neither as without faults nor 503 with Retry-After. */
  unexpected: string[]
  unavailable: number
  slowestMs: number
  /** Waits until a write and a sign-in that begin from now on are acknowledged. Returns how long that takes. */
  untilWorking: (limitMs: number) => Promise<number>
  stop: () => Promise<void>
}

/** Begins to write, sign in and subscribe. The server has TRUST_PROXY=1 and the development inbox. */
export async function startFaultLoad(server: ServerProcess, baseUrl: string): Promise<FaultLoad> {
  await makeTenant(server, baseUrl, TENANT)
  const token = await operatorToken(server, baseUrl, TENANT, `${SCOPES} clients:read`)
  const made = await callRest(server, TENANT, token, '/clients', {
    name: 'App',
    appType: 'web',
    type: 'login',
    callbacks: [REDIRECT_URI],
  })
  const client = { id: String(made.body.id), secret: String(made.body.secret) }
  const abort = new AbortController()
  // Users of earlier tests stay in the database.
  const domain = `${randomUUID()}.example`
  let network = 0
  let running = true
  /** When the newest of those began that were acknowledged. */
  const newest = { write: 0, signIn: 0 }
  const load: FaultLoad = {
    token,
    client,
    acknowledged: [],
    delivered: [],
    refreshTokens: [],
    unexpected: [],
    unavailable: 0,
    slowestMs: 0,
    untilWorking: async (limitMs) => {
      const start = performance.now()
      const isWorking = () => Math.min(newest.write, newest.signIn) > start
      while (!isWorking()) {
        if (performance.now() - start > limitMs)
          throw new Error(
            `not working after ${limitMs} ms: ${load.unexpected}\n${server.output().slice(-2000)}`,
          )
        await sleep(20)
      }
      return Math.round(performance.now() - start)
    },
    stop: async () => {
      running = false
      await Promise.all(workers)
      // What was acknowledged last may still be on its way to the subscriber.
      const isMissing = () => {
        const delivered = new Set(load.delivered)
        return load.acknowledged.some((id) => !delivered.has(id))
      }
      for (let n = 0; n < 100 && isMissing(); n++) await sleep(50)
      abort.abort()
    },
  }

  /** Sends a request; null when it was answered 503 with Retry-After. */
  async function send(browser: PageBrowser, path: string, init: RequestInit = {}): Promise<Response | null> {
    const start = Date.now()
    // Each request is of another network, so that limits of a network do not end the load.
    const forwarded = `10.0.${(++network >> 8) & 255}.${network & 255}`
    const response = await browser
      .fetch(path, { ...init, headers: { 'x-forwarded-for': forwarded, ...init.headers } })
      .catch((error: unknown) => {
        load.unexpected.push(`${path}: ${error} ${(error as Error).cause ?? ''}`)
        return null
      })
    load.slowestMs = Math.max(load.slowestMs, Date.now() - start)
    if (!response || response.status < 500) return response
    if (response.status === 503 && response.headers.has('retry-after')) load.unavailable += 1
    else load.unexpected.push(`${path}: ${response.status} ${(await response.text()).slice(0, 300)}`)
    await sleep(100)
    return null
  }

  const management = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }

  /** Returns whether the creation was acknowledged. */
  async function createUser(browser: PageBrowser, user: object): Promise<boolean> {
    const path = `/${TENANT}/api/v1/users`
    const answer = await send(browser, path, {
      method: 'POST',
      headers: management,
      body: JSON.stringify(user),
    })
    if (answer?.status === 201) load.acknowledged.push(((await answer.json()) as { id: string }).id)
    else if (answer) load.unexpected.push(`${path}: ${answer.status} ${await answer.text()}`)
    return answer?.status === 201
  }

  async function write(writer: number): Promise<void> {
    const browser = new PageBrowser(server.origin)
    for (let n = 0; running; n++) {
      const start = performance.now()
      if (await createUser(browser, { name: `Writer ${writer}, ${n}` }))
        newest.write = Math.max(newest.write, start)
      await sleep(20)
    }
  }

  /** The newest code in the development inbox. */
  async function readCode(address: string): Promise<string | null> {
    for (let n = 0; n < 20; n++) {
      const answer = await fetch(`${server.origin}/dev/inbox.json?to=${encodeURIComponent(address)}`)
      const { messages } = (await answer.json()) as { messages: { body: string }[] }
      const code = /\b(\d{6})\b/.exec(messages[0]?.body ?? '')?.[1]
      if (code) return code
      await sleep(50)
    }
    return null
  }

  /** Follows the redirects of the provider; null when an answer was 503. */
  async function open(browser: PageBrowser, path: string, init?: RequestInit) {
    let answer = await send(browser, path, init)
    let at = path
    for (let hop = 0; answer && hop < 10; hop++) {
      const location = answer.headers.get('location')
      if (!location) return { html: await answer.text(), path: at, location: null }
      if (!location.startsWith('/')) return { html: '', path: at, location }
      at = location
      answer = await send(browser, location)
    }
    return null
  }
  const submit = (browser: PageBrowser, page: { html: string; path: string }, form: Record<string, string>) =>
    open(browser, page.path, {
      method: 'POST',
      body: new URLSearchParams({ csrf: csrfIn(page.html), ...form }),
    })

  async function signIn(address: string): Promise<void> {
    const start = performance.now()
    const browser = new PageBrowser(server.origin)
    const path = authorizePath(TENANT, client, { scope: 'openid email offline_access', prompt: 'consent' })
    const emailPage = await open(browser, path)
    const codePage = emailPage && (await submit(browser, emailPage, { step: 'email', address }))
    const code = codePage && (await readCode(address))
    if (!codePage || !code) return
    const wrong = await submit(browser, codePage, {
      step: 'code',
      code: code === '000000' ? '000001' : '000000',
    })
    if (wrong?.location || wrong?.html.includes('name="step" value="allow"'))
      load.unexpected.push(`a wrong code let ${address} in: ${wrong.location}`)
    const consentPage =
      wrong && (await submit(browser, { ...codePage, html: wrong.html }, { step: 'code', code }))
    const done = consentPage?.location
      ? consentPage
      : consentPage && (await submit(browser, consentPage, { step: 'allow' }))
    const issued = answerIn(done?.location ?? null).code
    if (!issued) return
    const tokens = await redeem(browser, {
      grant_type: 'authorization_code',
      code: issued,
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    })
    const first = tokens?.refresh_token
    if (!first) return
    const refreshed = await redeem(browser, { grant_type: 'refresh_token', refresh_token: first })
    // The answer may be lost: a retry of the former token gets the identical successor.
    load.refreshTokens.push(refreshed?.refresh_token ?? first)
    newest.signIn = Math.max(newest.signIn, start)
  }

  async function redeem(browser: PageBrowser, form: Record<string, string>) {
    const answer = await send(browser, `/${TENANT}/oidc/token`, {
      method: 'POST',
      headers: { authorization: basic(client) },
      body: new URLSearchParams(form),
    })
    return answer?.ok ? ((await answer.json()) as Record<string, string>) : null
  }

  async function visit(person: number): Promise<void> {
    const browser = new PageBrowser(server.origin)
    for (let n = 0; running; n++) {
      // An address gets its next code after 30 s: each sign-in is of another user.
      const email = `person${person}-${n}@${domain}`
      if (await createUser(browser, { email, emailVerified: true }))
        await signIn(email).catch((error: unknown) => void load.unexpected.push(`sign-in: ${error}`))
      await sleep(20)
    }
  }

  // Users who are created before the subscription begins are not delivered.
  await new Promise<void>((resolve) => {
    void followCreatedUsers(server, TENANT, token, load.delivered, abort.signal, resolve)
  })
  const workers = [
    ...Array.from({ length: WRITERS }, (_, writer) => write(writer)),
    ...Array.from({ length: PEOPLE }, (_, person) => visit(person)),
  ]
  return load
}

/** A server under load, whose parts a test lets fail. */
export type FaultScene = { server: ServerProcess; load: FaultLoad; baseUrl: string }

/** Starts a server with these variables, and the load. */
export async function startFaultScene(variables: Record<string, string>): Promise<FaultScene> {
  const port = await freePort()
  const baseUrl = `http://localhost:${port}`
  const server = await startServer({
    ...(await newServerEnv()),
    PORT: String(port),
    BASE_URL: baseUrl,
    TRUST_PROXY: '1',
    LOG_LEVEL: 'warn',
    ...variables,
  })
  onTestFinished(() => server.kill().catch(() => {}))
  const load = await startFaultLoad(server, baseUrl)
  await load.untilWorking(30_000)
  return { server, load, baseUrl }
}

const readIds = (url: string, text: string): Promise<string[]> =>
  withConnection(url, async (client) => {
    const { rows } = await client.query<{ id: string }>(text, [TENANT])
    return rows.map(({ id }) => id)
  })

/**
 * Stops the load, and expects that what was acknowledged is stored, that each stored user has one event, that
 * the subscription delivered each event once, that nobody was let in, that refresh tokens work, and that the
 * process is the one that was started.
 */
export async function expectNothingLost({ server, load }: FaultScene, databaseUrl: string): Promise<void> {
  await load.stop()
  const stored = await readIds(databaseUrl, 'SELECT "id" FROM "User" WHERE "tenantId" = $1')
  const logged = await readIds(
    databaseUrl,
    'SELECT "userId" AS "id" FROM "Event" WHERE "tenantId" = $1 AND "type" = \'user.created\'',
  )
  const isStored = new Set(stored)
  expect(load.unexpected).toEqual([])
  expect(load.acknowledged.filter((id) => !isStored.has(id))).toEqual([])
  expect(logged.filter((id) => !isStored.has(id))).toEqual([])
  expect([logged.length, new Set(logged).size]).toEqual([stored.length, stored.length])
  const isDelivered = new Set(load.delivered)
  expect(load.delivered).toHaveLength(isDelivered.size)
  expect(load.acknowledged.filter((id) => !isDelivered.has(id))).toEqual([])
  for (const token of load.refreshTokens.slice(-5))
    expect((await refreshWith(server, TENANT, load.client, token)).status).toBe(200)
  expect((await new PageBrowser(server.origin).fetch('/health/live')).status).toBe(200)
  expect([server.child.exitCode, server.child.signalCode]).toEqual([null, null])
}

/** Prints a figure of a fault test. */
export const report = (what: string, { load }: FaultScene, recoveryMs: number): void => {
  process.stderr.write(
    `${what}: working ${recoveryMs} ms after the return; ${load.acknowledged.length} writes and ${load.refreshTokens.length} sign-ins acknowledged, ${load.unavailable} times 503, slowest answer ${load.slowestMs} ms\n`,
  )
}
