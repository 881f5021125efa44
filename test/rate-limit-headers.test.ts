import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

const LIMIT = vi.hoisted(() => {
  process.env.RATE_LIMIT = '20'
  return 20
})

import { redis } from '../src/bus.ts'
import { chargeCall } from '../src/call-budget.ts'
import { createClient } from '../src/clients/clients.ts'
import { type Ctx, platformCtx } from '../src/ctx.ts'
import { apiAudienceOf } from '../src/oidc/keys/keys.ts'
import { issueAccessToken } from '../src/oidc/token/access-tokens.ts'
import { createUser } from '../src/users/users.ts'
import { ctxFor, newTenant } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'
import { logOf } from './support/events.ts'
import { countStatements } from './support/statements.ts'
import { openSocket } from './support/streams.ts'

const MINUTE_MS = 60_000

let app: TestApp
let tenant: string
let userId: string
/** A minute of its own for each test, which does not end while it runs. */
let now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + 20_000

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  userId = (await createUser(await ctxFor(tenant), { name: 'Ada' })).id
})
afterAll(() => app.close())
beforeEach(() => {
  now += MINUTE_MS
  vi.useFakeTimers({ now, toFake: ['Date'] })
})
afterEach(() => vi.useRealTimers())

/** A client of its own, which has called nothing yet. */
async function caller() {
  const { client } = await createClient(platformCtx(tenant), {
    name: 'Caller',
    appType: 'machine',
    type: 'login',
    scopes: ['users:read', 'users:write'],
  })
  const token = await issueAccessToken(tenant, {
    subject: client.id,
    clientId: client.id,
    scopes: ['users:read', 'users:write'],
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 3600,
  })
  return { token, clientId: client.id }
}

const budgetOf = (headers: Headers) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`ratelimit-${name}`) ?? Number.NaN))
const get = (token: string | null, path: string, headers: Record<string, string> = {}) =>
  app.fetch(`/${tenant}${path}`, {
    headers: { ...headers, ...(token && { authorization: `Bearer ${token}` }) },
  })
const user = (token: string) => get(token, `/api/v1/users/${userId}`)

describe('every answer', () => {
  it('tells what its caller has left, REST and GraphQL together', async () => {
    const { token } = await caller()
    const other = await caller()
    const answers = [
      await user(token),
      await get(token, '/api/v1/users/nobody'),
      await get(token, '/api/v1/sessions'), // without the scope
      await get(token, '/api/v1/users?page=x'),
      (await app.gql(tenant, token, '{ viewer { scopes } }')) as { headers: Headers },
      (await app.gql(tenant, token, '{')) as { headers: Headers },
      (await app.gql(tenant, token, '{ tenant { id } }')) as { headers: Headers },
    ]
    expect(answers.map(({ headers }) => budgetOf(headers))).toEqual(
      answers.map((_, index) => [LIMIT, LIMIT - index - 1, 40]),
    )
    expect(budgetOf((await user(other.token)).headers)).toEqual([LIMIT, LIMIT - 1, 40])
  })

  it('is charged to the network where nobody is identified, whatever the path', async () => {
    const sent = [
      get(null, '/api/v1/users'),
      get('garbage', '/api/v1/users'),
      get(null, '/api/v1/nothing-here'),
      app.fetch(`/${tenant}/api/v1/users`, { method: 'PUT' }),
      app.fetch('/no-such-tenant/api/v1/users'),
      get(null, '/api/v1/openapi.json'),
      app.fetch('/no-such-tenant/graphql', { method: 'POST' }),
      app.fetch(`/${tenant}/graphql?query={viewer{scopes}}`),
    ]
    const budgets = (await Promise.all(sent)).map(({ headers }) => budgetOf(headers))
    expect(budgets.map(([limit, , reset]) => [limit, reset])).toEqual(sent.map(() => [LIMIT, 40]))
    expect(budgets.map(([, remaining]) => remaining).toSorted((a = 0, b = 0) => b - a)).toEqual(
      sent.map((_, index) => LIMIT - index - 1),
    )
  })

  it('costs no statement', async () => {
    const { token } = await caller()
    await user(token)
    const counts = [await countStatements(() => user(token)), await countStatements(() => user(token))]
    expect(Math.min(...counts)).toBe(1)
  })
})

describe('a caller who has nothing left', () => {
  async function spent() {
    const made = await caller()
    for (let i = 0; i < LIMIT; i++) expect((await user(made.token)).status).toBe(200)
    return made
  }

  it('gets 429 over REST, 429 over GraphQL, and nothing done, until the minute is over', async () => {
    const { token } = await spent()
    const told = (await logOf(tenant)).length
    const rest = await app.rest(tenant, token, 'POST', '/users', { name: 'Too many' })
    expect([rest.status, rest.headers.get('retry-after'), budgetOf(rest.headers)]).toEqual([
      429,
      '40',
      [LIMIT, 0, 40],
    ])
    expect(rest.body).toEqual({
      message: `Too many calls: ${LIMIT} are allowed in 60 seconds.`,
      requestId: expect.any(String),
      fields: [],
      code: 'RATE_LIMITED',
    })
    const mutation = 'mutation { createUser(input: { fields: {} }) { __typename } }'
    const graphql = await app.gql(tenant, token, mutation)
    expect([graphql.status, graphql.headers.get('retry-after'), budgetOf(graphql.headers)]).toEqual([
      429,
      '40',
      [LIMIT, 0, 40],
    ])
    expect(graphql.body).toEqual({
      errors: [
        {
          message: rest.body.message,
          extensions: { code: 'RATE_LIMITED', requestId: expect.any(String), retryAfterSeconds: 40 },
        },
      ],
    })
    expect(await logOf(tenant)).toHaveLength(told)
    vi.setSystemTime(now + 40_000)
    expect((await user(token)).status).toBe(200)
  })

  it('gets no operation through a WebSocket either', async () => {
    const { token } = await spent()
    const client = openSocket(`${app.origin.replace('http', 'ws')}/${tenant}/graphql`, token)
    const answer = await new Promise((resolve) => {
      client.subscribe(
        { query: '{ viewer { scopes } }' },
        { next: resolve, error: resolve, complete: () => {} },
      )
    })
    await client.dispose()
    expect(answer).toMatchObject([{ extensions: { code: 'RATE_LIMITED', retryAfterSeconds: 40 } }])
  })

  it('is not helped by a forged address, and does not stop others of the network', async () => {
    const { token } = await spent()
    const forged = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' }
    expect((await get(token, '/api/v1/users', forged)).status).toBe(429)
    for (let i = 0; i < LIMIT; i++) await get(null, '/api/v1/users')
    for (let i = 0; i < 3; i++)
      expect((await get(null, '/api/v1/users', { 'x-forwarded-for': `203.0.113.${i}` })).status).toBe(429)
    expect((await get('garbage', '/graphql?query={viewer{scopes}}')).status).toBe(429)
    const other = await caller()
    expect((await user(other.token)).status).toBe(200)
  })
})

describe('the budget', () => {
  const person = (id: string, of = tenant): Pick<Ctx, 'tenant' | 'actor' | 'ip'> => ({
    tenant: of,
    actor: { kind: 'user', tenant: of, userId: id, clientId: 'c', sessionId: null, grantId: null },
    ip: '192.0.2.1',
  })
  const anonymous = (ip: string | null) => ({ tenant: '', actor: { kind: 'anonymous' as const }, ip })
  const left = (who: Parameters<typeof chargeCall>[0]) => LIMIT - chargeCall(who, now).remaining

  it("is a person's, whichever client they use, for each tenant", () => {
    const [ada, bob] = [person('ada'), person('bob')]
    expect([left(ada), left(ada), left(bob), left(person('ada', 'other'))]).toEqual([1, 2, 1, 1])
    const client = {
      kind: 'user',
      tenant,
      userId: 'ada',
      clientId: 'd',
      sessionId: 's',
      grantId: null,
    } as const
    expect(left({ ...ada, actor: client, ip: '198.51.100.7' })).toBe(3)
  })

  it('of a network is one for all spellings of its addresses, and for all of an IPv6 /64', () => {
    const one = ['2001:db8::1', '2001:DB8:0:0:ffff::1', '2001:db8:0:0:1234:5678:9abc:def0']
    expect(one.map((ip) => left(anonymous(ip)))).toEqual([1, 2, 3])
    const two = ['198.51.100.1', '::ffff:198.51.100.1', '::FFFF:C633:6401']
    expect(two.map((ip) => left(anonymous(ip)))).toEqual([1, 2, 3])
    expect(left(anonymous('2001:db8:0:1::1'))).toBe(1)
  })

  it('counts no call that it refuses, and begins anew with each minute', () => {
    const eve = person('eve')
    const spend = (at: number) => Array.from({ length: LIMIT + 5 }, () => chargeCall(eve, at).isSpent)
    const expected = Array.from({ length: LIMIT + 5 }, (_, index) => index >= LIMIT)
    expect([spend(now), spend(now + MINUTE_MS)]).toEqual([expected, expected])
    expect(chargeCall(eve, now + 3 * MINUTE_MS - 20_001)).toEqual({
      limit: LIMIT,
      remaining: LIMIT - 1,
      resetSeconds: 1,
      isSpent: false,
    })
  })

  it.skipIf(!process.env.REDIS_URL)('is shared by all processes', async () => {
    const { token, clientId } = await caller()
    const key = `vestibule:calls:${tenant}:${tenant}:${clientId}:${Math.floor(now / MINUTE_MS)}`
    await user(token)
    await expect.poll(() => redis()?.get(key)).toBe('1')
    // What another process tells.
    await redis()?.incrby(key, LIMIT - 3)
    await user(token)
    await expect.poll(() => redis()?.get(key)).toBe(String(LIMIT - 1))
    await expect.poll(async () => budgetOf((await user(token)).headers)[1]).toBe(0)
    expect((await user(token)).status).toBe(429)
    expect(await redis()?.ttl(key)).toBeGreaterThan(0)
  })
})
