import { randomBytes } from 'node:crypto'
import { vi } from 'vitest'
import { startMailServer } from './mail-server.ts'
import { PageBrowser } from './page-browser.ts'
import { operatorToken, type ServerProcess, startServer } from './process.ts'
import { REDIRECT_URI } from './protocol.ts'
import { type Balancer, inTurns, type RedisLink, startBalancer, startRedisLink } from './round-robin.ts'

const CODE = /\b(\d{6})\b/
const WAIT_LIMIT_MS = 10_000

/** A mail server for several processes, whose own inboxes the test cannot read. */
export type Mailbox = {
  url: string
  /** The newest code that was sent to an address; waits for one. */
  codeFor: (address: string) => Promise<string>
  close: () => Promise<void>
}

export async function startMailbox(): Promise<Mailbox> {
  const texts = new Map<string, string>()
  const { url, close } = await startMailServer(({ text = '' }, to) => {
    if (CODE.test(text)) for (const address of to) texts.set(address, text)
  })
  return {
    url,
    close,
    codeFor: (address) =>
      vi.waitFor(
        () => {
          const code = CODE.exec(texts.get(address) ?? '')?.[1]
          if (!code) throw new Error(`no code was sent to ${address}`)
          return code
        },
        { timeout: WAIT_LIMIT_MS, interval: 20 },
      ),
  }
}

const SCOPES = 'users:read users:write sessions:read clients:read clients:write tenant:read tenant:write'

/** Two processes of the program on one PostgreSQL and one Redis, behind one public origin. */
export type Pair = {
  origin: string
  servers: readonly [ServerProcess, ServerProcess]
  balancer: Balancer
  /** Their proxy to Redis. */
  redis: RedisLink
  codeFor: (address: string) => Promise<string>
  newTenant: () => Promise<PairTenant>
  /** Stops both with SIGTERM, and their proxies; returns the exit codes. */
  stop: () => Promise<(number | null)[]>
}

/** A tenant of the pair, and its operator. */
export type PairTenant = {
  slug: string
  issuer: string
  /** A management call at one of the processes; throws when it is rejected. */
  manage: (at: ServerProcess, method: string, path: string, body?: object) => Promise<Managed>
  /** A client with REDIRECT_URI as its redirect URI. */
  makeClient: (more?: object, at?: ServerProcess) => Promise<{ id: string; secret: string }>
  makePerson: (at?: ServerProcess) => Promise<{ id: string; email: string }>
}
// biome-ignore lint/suspicious/noExplicitAny: the operation decides the shape
type Managed = any

export async function startPair(): Promise<Pair> {
  const balancer = await startBalancer()
  const { origin } = balancer
  const mailbox = await startMailbox()
  const redis = await startRedisLink(process.env.REDIS_URL ?? '')
  const { DATABASE_URL, REDIS_PREFIX, ENCRYPTION_KEY } = process.env
  const env = {
    BASE_URL: origin,
    DATABASE_URL,
    ENCRYPTION_KEY,
    REDIS_URL: redis.url,
    REDIS_PREFIX,
    SMTP_URL: mailbox.url,
  }
  const servers = (await Promise.all([startServer(env), startServer(env)])) as [ServerProcess, ServerProcess]
  balancer.route(
    servers.map((server) => server.origin),
    inTurns(),
  )

  async function call(
    at: ServerProcess,
    slug: string,
    token: string,
    method: string,
    path: string,
    body?: object,
  ) {
    const response = await fetch(`${at.origin}/${slug}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.json() as Promise<Managed>
  }
  return {
    origin,
    servers,
    balancer,
    redis,
    codeFor: mailbox.codeFor,
    newTenant: async () => {
      const slug = `t-${randomBytes(4).toString('hex')}`
      const root = await operatorToken(servers[0], origin, 'system', 'tenants:write')
      await call(servers[0], 'system', root, 'POST', '/tenants', { slug })
      const token = await operatorToken(servers[1], origin, slug, SCOPES)
      const manage: PairTenant['manage'] = (at, method, path, body) =>
        call(at, slug, token, method, path, body)
      return {
        slug,
        issuer: `${origin}/${slug}`,
        manage,
        makeClient: (more, at = servers[0]) => {
          const fields = { name: 'Relying party', appType: 'web', type: 'login', callbacks: [REDIRECT_URI] }
          return manage(at, 'POST', '/clients', { ...fields, ...more })
        },
        makePerson: (at = servers[1]) => {
          const email = `${randomBytes(6).toString('hex')}@example.com`
          return manage(at, 'POST', '/users', { email, emailVerified: true, name: 'Ada Lovelace' })
        },
      }
    },
    stop: async () => {
      const codes = await Promise.all(servers.map((server) => server.stop()))
      redis.close()
      await Promise.all([balancer.close(), mailbox.close()])
      return codes
    },
  }
}

/** Signs a user in with a code from an authorize request; returns the page that follows. */
export async function signInThrough(
  pair: Pair,
  path: string,
  email: string,
  browser = new PageBrowser(pair.origin),
) {
  const start = await browser.open(path)
  const sent = await browser.submit(
    { html: await start.response.text(), path: start.path },
    { step: 'email', address: email },
  )
  const codePage = { html: await sent.response.text(), path: sent.path }
  return browser.submit(codePage, { step: 'code', code: await pair.codeFor(email) })
}
