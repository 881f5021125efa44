import { describe, expect, inject, vi } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { type BudgetName, STORAGE_BUDGETS, takeStorage } from '../../src/coordination/storage-budgets.ts'
import { renderMetrics } from '../../src/core/metrics.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import type { TestApp } from '../support/app.ts'
import { test as base, newOpenTenant, serveJson } from '../support/client-documents.ts'
import { dbFor, sql } from '../support/database.ts'
import { PageBrowser } from '../support/page-browser.ts'
import { startServer } from '../support/process.ts'
import { authorizePath, codeFor, makeClient, makeUser } from '../support/protocol.ts'
import { hasServices } from '../support/services.ts'
import { createAssertionSender, createProofSender, STORING_REQUESTS } from '../support/storing-requests.ts'

/** A browser with an address: the server trusts one proxy. */
class BrowserFrom extends PageBrowser {
  readonly #ip: string

  constructor({ origin }: { origin: string }, ip: string) {
    super(origin)
    this.#ip = ip
  }

  override fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return super.fetch(path, { ...init, headers: { ...init.headers, 'x-forwarded-for': this.#ip } })
  }
}

type Visited = { slug: string; client: { id: string; secret: string } }

/** The parameters of an authorize request with a state of `stateBytes`. */
const toParameters = ({ slug, client }: Visited, stateBytes: number) =>
  new URLSearchParams(authorizePath(slug, client, { state: 'x'.repeat(stateBytes) }).split('?')[1])

/** Starts a sign-in from an address, with a large request. */
const startSignIn = (
  app: Pick<TestApp, 'origin'>,
  visited: Visited,
  ip: string,
  stateBytes = 15_000,
): Promise<Response> =>
  new BrowserFrom(app, ip).fetch(`/${visited.slug}/oidc/authorize`, {
    method: 'POST',
    body: toParameters(visited, stateBytes),
  })

/** Starts sign-ins one after another until one is rejected; returns how many were not, and the rejection. */
async function floodSignIns(start: (index: number) => Promise<Response>) {
  for (let count = 0; count < 400; count++) {
    const response = await start(count)
    if (response.status !== 303) return { count, response }
  }
  throw new Error('no sign-in was rejected')
}

/** The bytes of the pending sign-ins of a tenant. */
async function measureInteractions(slug: string): Promise<number> {
  const [row] = await sql<{ bytes: number }>(
    `SELECT sum(octet_length("request"::text))::int AS "bytes" FROM "Interaction" WHERE "tenantId" = $1`,
    [slug],
  )
  return row?.bytes ?? 0
}

/** Stores parts of the budget of a network in a tenant until no further part is accepted. */
async function storeParts(name: BudgetName, ip: string, tenant: string, parts: number): Promise<void> {
  const rows = STORAGE_BUDGETS[name].network.rows / parts
  while ((await takeStorage(name, { tenant, ip }, { rows, bytes: 0 })) === null);
}

/**
 * Uses up a budget of a network, as calls in another tenant do. Less than a hundredth of a row is left, so that
 * some time passes before the budget has drained by a row.
 */
async function useUp(name: BudgetName, ip: string): Promise<void> {
  const { rows } = STORAGE_BUDGETS[name].network
  for (const parts of [100, rows, rows * 100]) await storeParts(name, ip, 'another', parts)
}

let addresses = 0

/** The rows of a tenant that strangers may write. */
async function countRows(tenantId: string): Promise<number[]> {
  const db = dbFor(tenantId)
  const where = { tenantId }
  return Promise.all([
    db.interaction.count({ where }),
    db.pushedRequest.count({ where }),
    db.deviceCode.count({ where }),
    db.passcode.count({ where }),
    db.user.count({ where }),
    db.event.count({ where }),
  ])
}

/** `test` with tenants, and addresses that have stored nothing. */
const test = base
  .extend('newVisited', { scope: 'file' }, ({ app: _ }) => async (more: object = {}): Promise<Visited> => {
    const slug = await newOpenTenant()
    return { slug, client: await makeClient(slug, more) }
  })
  .extend('visited', { scope: 'file' }, ({ newVisited }) => newVisited())
  .extend('neighbor', { scope: 'file' }, ({ newVisited }) => newVisited())
  .extend('countRows', { scope: 'file' }, async () => countRows)
  .extend(
    'newIp',
    { scope: 'file' },
    ({ app: _ }) =>
      () =>
        `10.1.${++addresses >> 8}.${addresses & 255}`,
  )

// Before the imports of src/, which read the environment.
vi.hoisted(() => {
  process.env.TRUST_PROXY = '1'
  process.env.NETWORK_STORAGE_MB = '1'
})

const { passcode, pendingRequest, rejection } = STORAGE_BUDGETS

/** The lines of the metric of what was not stored. */
const readLimited = async (): Promise<string[]> =>
  (await (await renderMetrics()).text())
    .split('\n')
    .filter((line) => line.startsWith('vestibule_storage_limited_total{'))

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0)

const countRefused = async (slugs: string[]): Promise<number> =>
  sum(
    await Promise.all(
      slugs.map((tenantId) =>
        dbFor(tenantId).event.count({ where: { tenantId, type: 'authorize.refused' } }),
      ),
    ),
  )

describe.runIf(hasServices)('pending sign-ins', () => {
  test('of a network are bounded over all tenants, while another network signs in', async ({
    app,
    visited,
    neighbor,
    newIp,
  }) => {
    const ip = newIp()
    const at = (index: number) => (index % 2 === 0 ? visited : neighbor)
    const { count, response } = await floodSignIns((index) => startSignIn(app, at(index), ip))
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(count).toBeGreaterThan(15)
    const stored = await Promise.all([visited, neighbor].map(({ slug }) => measureInteractions(slug)))
    expect(sum(stored)).toBeLessThan(pendingRequest.network.bytes * 1.1)
    for (const tenant of [visited, neighbor]) expect((await startSignIn(app, tenant, ip)).status).toBe(429)

    const { email } = await makeUser(visited.slug, 'ada@example.com')
    const browser = new BrowserFrom(app, newIp())
    const start = await browser.open(authorizePath(visited.slug, visited.client))
    const form = { html: await start.response.text(), path: start.path }
    const sent = await browser.submit(form, { step: 'email', address: email ?? '' })
    const code = { step: 'code', code: await codeFor(email ?? '') }
    const done = await browser.submit({ html: await sent.response.text(), path: sent.path }, code)
    expect(done.location).toMatch(/^https:\/\/rp\.example\.com\/cb\?.*code=/)
    expect(await readLimited()).toContainEqual(
      expect.stringMatching(/budget="pendingRequest",what="pendingRequest",reason="network"/),
    )
  })

  test('are bounded for the networks of an IPv6 /48 together', async ({ app, newVisited }) => {
    const visited = await newVisited()
    const { count, response } = await floodSignIns((index) =>
      startSignIn(app, visited, `2001:db8:77:${index.toString(16)}::${index}`),
    )
    expect(response.status).toBe(429)
    expect(count).toBeGreaterThan(60)
    expect(await measureInteractions(visited.slug)).toBeLessThan(4 * pendingRequest.network.bytes * 1.1)
    expect((await startSignIn(app, visited, '2001:db8:78::1')).status).toBe(303)
  })

  test('are bounded for the addresses of an IPv6 /64 together', async ({ app, newVisited }) => {
    const visited = await newVisited()
    const { count } = await floodSignIns((index) =>
      startSignIn(app, visited, `2001:db8:79:1::${index.toString(16)}`),
    )
    expect(count).toBeLessThan(70)
    expect((await startSignIn(app, visited, '2001:db8:79:2::1')).status).toBe(303)
  })

  test.runIf(inject('database').redisUrl)(
    'of a network are bounded over all processes',
    { timeout: 60_000 },
    async ({ app, visited, newIp, onTestFinished }) => {
      const { DATABASE_URL, REDIS_URL, REDIS_PREFIX, ENCRYPTION_KEY } = process.env
      const { BASE_URL, TRUST_PROXY, NETWORK_STORAGE_MB } = process.env
      const stores = { DATABASE_URL, REDIS_URL, REDIS_PREFIX, ENCRYPTION_KEY }
      const settings = { ...stores, BASE_URL, TRUST_PROXY, NETWORK_STORAGE_MB }
      const other = await startServer({ ...settings, NODE_ENV: 'development' })
      onTestFinished(() => void other.stop())
      const ip = newIp()
      const { count } = await floodSignIns((index) => startSignIn(index % 2 ? other : app, visited, ip))
      expect(count).toBeLessThan(70)
      expect((await startSignIn(other, visited, ip)).status).toBe(429)
      expect((await startSignIn(app, visited, ip)).status).toBe(429)
      expect((await startSignIn(other, visited, newIp())).status).toBe(303)
    },
  )

  test('from many networks reject the networks that have stored most, and no others', async ({
    app,
    newVisited,
    newIp,
  }) => {
    const visited = await newVisited()
    const attackers = Array.from({ length: 60 }, () => newIp())
    for (const ip of attackers) await storeParts('pendingRequest', ip, visited.slug, 20)
    for (const ip of attackers.slice(0, 3)) {
      await storeParts('pendingRequest', ip, visited.slug, pendingRequest.network.rows)
      expect((await startSignIn(app, visited, ip, 0)).status).toBe(429)
    }
    for (const ip of [newIp(), newIp()]) expect((await startSignIn(app, visited, ip, 0)).status).toBe(303)
    expect(await readLimited()).toContainEqual(
      expect.stringMatching(/budget="pendingRequest",what="pendingRequest",reason="tenant"/),
    )
  })
})

describe.runIf(hasServices)('a network that has used up its budget', () => {
  test.for(STORING_REQUESTS)(
    'stores nothing more by %s',
    async ([_what, budget, prepare], { app, visited, newIp, countRows }) => {
      const ip = newIp()
      const browser = new BrowserFrom(app, ip)
      const act = await prepare(browser, visited)
      const before = await countRows(visited.slug)
      await useUp(budget, ip)
      const { response } = await browser.follow(await act())
      // A page of the sign-in shows it in the page.
      if (response.status === 200) expect(await response.text()).toContain('Too many attempts')
      else {
        expect(response.status).toBe(429)
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      expect(await countRows(visited.slug)).toEqual(before)
    },
  )

  test.for([
    ['proofs of a public client', createProofSender],
    ['assertions of a client that a stranger registered', createAssertionSender],
  ] as const)('stores no more %s', async ([_what, createSender], { app, newVisited, newIp }) => {
    const { slug } = await newVisited()
    const ip = newIp()
    const send = await createSender(new BrowserFrom(app, ip), slug)
    expect((await send()).status).toBe(400)
    await useUp('usedProof', ip)
    const statuses = (await Promise.all(Array.from({ length: 40 }, send))).map(({ status }) => status)
    const rejected = statuses.filter((status) => status === 429).length
    expect(rejected).toBeGreaterThan(0)
    expect(await dbFor(slug).usedProof.count({ where: { tenantId: slug } })).toBe(1 + 40 - rejected)
  })

  test('adds no client of a metadata document', async ({ app, visited, newIp, documents }) => {
    const ip = newIp()
    await useUp('clientDocument', ip)
    const id = documents.publish(serveJson({}))
    const answer = await new BrowserFrom(app, ip).fetch(authorizePath(visited.slug, { id }))
    expect(answer.status).toBe(429)
    const where = { tenantId: visited.slug, registeredBy: 'document' }
    expect(await dbFor(visited.slug).client.count({ where })).toBe(0)
    const allowed = await new BrowserFrom(app, newIp()).fetch(authorizePath(visited.slug, { id }))
    expect(allowed.status).toBe(303)
  })

  test('adds no client of open registration, and changes none', async ({ app, newVisited, newIp }) => {
    const { slug } = await newVisited()
    await updateSettings(createPlatformCtx(slug), { openRegistration: true })
    const ip = newIp()
    const register = (from: string, init: RequestInit, path = '') =>
      new BrowserFrom(app, from).fetch(`/${slug}/oidc/register${path}`, {
        ...init,
        headers: { 'content-type': 'application/json', ...init.headers },
      })
    const body = JSON.stringify({ redirect_uris: ['https://rp.example.com/cb'] })
    const added = await register(ip, { method: 'POST', body })
    expect(added.status).toBe(201)
    const { client_id: id, registration_access_token: token } = await added.json()
    await useUp('clientRegistration', ip)
    expect((await register(ip, { method: 'POST', body })).status).toBe(429)
    const replacement = {
      method: 'PUT',
      body: JSON.stringify({ client_id: id, redirect_uris: ['https://rp.example.com/other'] }),
      headers: { authorization: `Bearer ${token}` },
    }
    expect((await register(ip, replacement, `/${id}`)).status).toBe(429)
    const clients = await dbFor(slug).client.findMany({
      where: { tenantId: slug, registeredBy: 'open-registration' },
    })
    expect(clients.map(({ callbacks }) => callbacks)).toEqual([['https://rp.example.com/cb']])
    expect((await register(newIp(), { method: 'POST', body })).status).toBe(201)
  })
})

describe.runIf(hasServices)('the budget of a network', () => {
  test('is not taken from by calls of the management API that name the network as that of a user', async ({
    rest,
    newIp,
  }) => {
    const ip = newIp()
    const other = newIp()
    const guess = { to: 'nobody@example.com', code: '000000', metadata: { ipAddress: ip } }
    for (let times = 0; times < 5; times++)
      expect((await rest('POST', '/passcodes/authenticate', guess)).status).toBe(401)
    const whole = { rows: passcode.network.rows, bytes: 0 }
    expect(await takeStorage('passcode', { tenant: 'another', ip }, whole)).toBeNull()
    await takeStorage('passcode', { tenant: 'another', ip: other }, { rows: 5, bytes: 0 })
    expect(await takeStorage('passcode', { tenant: 'another', ip: other }, whole)).not.toBeNull()
  })
})

describe.runIf(hasServices)('rejected requests', () => {
  test('of a network are recorded up to its budget, counted beyond it, and answered alike', async ({
    app,
    newVisited,
    newIp,
  }) => {
    const slugs = [(await newVisited()).slug, (await newVisited()).slug]
    const browser = new BrowserFrom(app, newIp())
    const total = rejection.network.rows + 100
    const statuses = new Set<number>()
    for (let sent = 0; sent < total; sent += 50) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          browser.fetch(authorizePath(slugs[index % 2] ?? '', { id: 'client_unknown' })),
        ),
      )
      for (const { status } of answers) statuses.add(status)
    }
    expect([...statuses]).toEqual([400])
    const recorded = await countRefused(slugs)
    expect(recorded).toBeGreaterThanOrEqual(rejection.network.rows - 1)
    expect(recorded).toBeLessThan(rejection.network.rows + 10)
    expect(await readLimited()).toContain(
      `vestibule_storage_limited_total{budget="rejection",what="authorize.refused",reason="network"} ${total - recorded}`,
    )
    const other = new BrowserFrom(app, newIp())
    await other.fetch(authorizePath(slugs[0] ?? '', { id: 'client_unknown' }))
    expect(await countRefused(slugs)).toBe(recorded + 1)
  })
})
