import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, vi } from 'vitest'

const LIMIT = vi.hoisted(() => {
  process.env.RATE_LIMIT = '20'
  return 20
})

import { createClient } from '../../src/clients/clients.ts'
import type { Ctx } from '../../src/context/context.ts'
import { checkRedis, getRedis } from '../../src/coordination/bus.ts'
import { chargeCall } from '../../src/coordination/call-budget.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { createUser } from '../../src/users/users.ts'
import { test as base } from '../support/fixtures.ts'
import { countStatements } from '../support/statements.ts'
import { openSocket } from '../support/streams.ts'

const MINUTE_MS = 60_000
/** The time of a test: 20 s into a minute in which nothing else happens. */
let now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + 20_000

beforeEach(() => {
  now += MINUTE_MS
  vi.useFakeTimers({ now, toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const budgetOf = (headers: Headers) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`ratelimit-${name}`) ?? Number.NaN))

const test = base
  /** Makes a client that has called nothing yet. */
  .extend('newCaller', { scope: 'file' }, ({ tenant, ctx }) => async () => {
    const { client } = await createClient(ctx, {
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
  })
  .extend(
    'get',
    { scope: 'file' },
    ({ app, tenant }) =>
      (token: string | null, path: string, headers: Record<string, string> = {}) =>
        app.fetch(`/${tenant}${path}`, {
          headers: { ...headers, ...(token && { authorization: `Bearer ${token}` }) },
        }),
  )
  /** Reads a user by a token. */
  .extend('readUser', { scope: 'file' }, async ({ ctx, get }) => {
    const { id } = await createUser(ctx, { name: 'Ada' })
    return (token: string) => get(token, `/api/v1/users/${id}`)
  })
  /** Makes a client that has no calls left. */
  .extend('newSpentCaller', { scope: 'file' }, ({ newCaller, readUser }) => async () => {
    const caller = await newCaller()
    for (let i = 0; i < LIMIT; i++) expect((await readUser(caller.token)).status).toBe(200)
    return caller
  })

describe('an answer of the management surface', () => {
  test('reports the remaining calls of its caller, for REST and GraphQL together', async ({
    gql,
    newCaller,
    get,
    readUser,
  }) => {
    const { token } = await newCaller()
    const other = await newCaller()
    const answers = [
      await readUser(token),
      await get(token, '/api/v1/users/nobody'),
      await get(token, '/api/v1/sessions'),
      await get(token, '/api/v1/users?page=x'),
      await gql('{ viewer { scopes } }', {}, { token }),
      await gql('{', {}, { token }),
      await gql('{ tenant { id } }', {}, { token }),
    ]
    expect(answers.map(({ headers }) => budgetOf(headers))).toEqual(
      answers.map((_, index) => [LIMIT, LIMIT - index - 1, 40]),
    )
    expect(budgetOf((await readUser(other.token)).headers)).toEqual([LIMIT, LIMIT - 1, 40])
  })

  test('counts for the network when the caller is not authenticated, at every path', async ({
    app,
    tenant,
    get,
  }) => {
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

  test('takes no statement for the budget', async ({ newCaller, readUser }) => {
    const { token } = await newCaller()
    await readUser(token)
    // Under load, a cached row or a job may add a statement to some of them.
    const counts: number[] = []
    while (counts.length < 5) counts.push(await countStatements(() => readUser(token)))
    expect(Math.min(...counts)).toBe(1)
  })
})

describe('a caller without remaining calls', () => {
  test('is rejected with 429 over REST and GraphQL until the minute ends', async ({
    rest,
    gql,
    events,
    readUser,
    newSpentCaller,
  }) => {
    const { token } = await newSpentCaller()
    const count = (await events()).length
    const answer = await rest('POST', '/users', { name: 'Too many' }, { token })
    expect([answer.status, answer.headers.get('retry-after'), budgetOf(answer.headers)]).toEqual([
      429,
      '40',
      [LIMIT, 0, 40],
    ])
    expect(answer.body).toEqual({
      message: `Too many calls: ${LIMIT} are allowed in 60 seconds.`,
      requestId: expect.any(String),
      fields: [],
      code: 'RATE_LIMITED',
    })
    const mutation = 'mutation { createUser(input: {}) { __typename } }'
    const graphql = await gql(mutation, {}, { token })
    expect([graphql.status, graphql.headers.get('retry-after'), budgetOf(graphql.headers)]).toEqual([
      429,
      '40',
      [LIMIT, 0, 40],
    ])
    expect(graphql.body).toEqual({
      errors: [
        {
          message: answer.body.message,
          extensions: { code: 'RATE_LIMITED', requestId: expect.any(String), retryAfterSeconds: 40 },
        },
      ],
    })
    expect(await events()).toHaveLength(count)
    vi.setSystemTime(now + 40_000)
    expect((await readUser(token)).status).toBe(200)
  })

  test('is rejected over a WebSocket, whose connection_init is a call', async ({
    app,
    tenant,
    newCaller,
    readUser,
    newSpentCaller,
  }) => {
    const open = (token: string) => openSocket(`${app.origin.replace('http', 'ws')}/${tenant}/graphql`, token)
    const spent = open((await newSpentCaller()).token)
    expect(await new Promise((resolve) => spent.on('closed', resolve))).toMatchObject({
      code: 4420,
      reason: `Too many calls: ${LIMIT} are allowed in 60 seconds.`,
    })
    const { token } = await newCaller()
    for (let i = 1; i < LIMIT; i++) await readUser(token)
    const client = open(token)
    const answer = await new Promise((resolve) => {
      client.subscribe(
        { query: '{ viewer { scopes } }' },
        { next: resolve, error: resolve, complete: () => {} },
      )
    })
    await Promise.all([client.dispose(), spent.dispose()])
    expect(answer).toMatchObject([{ extensions: { code: 'RATE_LIMITED', retryAfterSeconds: 40 } }])
  })

  test('is rejected with a forged address, and other callers of the network are not', async ({
    newCaller,
    get,
    readUser,
    newSpentCaller,
  }) => {
    const { token } = await newSpentCaller()
    const forged = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' }
    expect((await get(token, '/api/v1/users', forged)).status).toBe(429)
    for (let i = 0; i < LIMIT; i++) await get(null, '/api/v1/users')
    for (let i = 0; i < 3; i++)
      expect((await get(null, '/api/v1/users', { 'x-forwarded-for': `203.0.113.${i}` })).status).toBe(429)
    expect((await get('garbage', '/graphql?query={viewer{scopes}}')).status).toBe(429)
    const other = await newCaller()
    expect((await readUser(other.token)).status).toBe(200)
  })
})

describe('a call budget', () => {
  const byUser = (tenant: string, id: string): Pick<Ctx, 'tenant' | 'actor' | 'ip'> => ({
    tenant,
    actor: { kind: 'user', tenant, userId: id, clientId: 'c', sessionId: null, grantId: null },
    ip: '192.0.2.1',
  })
  const anonymous = (ip: string | null) => ({ tenant: '', actor: { kind: 'anonymous' as const }, ip })
  const charge = (who: Parameters<typeof chargeCall>[0]) => LIMIT - chargeCall(who, now).remaining

  test('belongs to a user of a tenant, for all clients', ({ tenant }) => {
    const [ada, bob] = [byUser(tenant, 'ada'), byUser(tenant, 'bob')]
    expect([charge(ada), charge(ada), charge(bob), charge(byUser('other', 'ada'))]).toEqual([1, 2, 1, 1])
    const client = {
      kind: 'user',
      tenant,
      userId: 'ada',
      clientId: 'd',
      sessionId: 's',
      grantId: null,
    } as const
    expect(charge({ ...ada, actor: client, ip: '198.51.100.7' })).toBe(3)
  })

  test('of a network is the same for all spellings of an address and for an IPv6 /64', () => {
    const one = ['2001:db8::1', '2001:DB8:0:0:ffff::1', '2001:db8:0:0:1234:5678:9abc:def0']
    expect(one.map((ip) => charge(anonymous(ip)))).toEqual([1, 2, 3])
    const two = ['198.51.100.1', '::ffff:198.51.100.1', '::FFFF:C633:6401']
    expect(two.map((ip) => charge(anonymous(ip)))).toEqual([1, 2, 3])
    expect(charge(anonymous('2001:db8:0:1::1'))).toBe(1)
  })

  test('does not count rejected calls and is restored each minute', ({ tenant }) => {
    const eve = byUser(tenant, 'eve')
    const spend = (at: number) => Array.from({ length: LIMIT + 5 }, () => chargeCall(eve, at).isExhausted)
    const expected = Array.from({ length: LIMIT + 5 }, (_, index) => index >= LIMIT)
    expect([spend(now), spend(now + MINUTE_MS)]).toEqual([expected, expected])
    expect(chargeCall(eve, now + 3 * MINUTE_MS - 20_001)).toEqual({
      limit: LIMIT,
      remaining: LIMIT - 1,
      resetSeconds: 1,
      isExhausted: false,
    })
  })

  test.skipIf(!process.env.REDIS_URL)(
    'counts in Redis below the prefix of its deployment',
    async ({ tenant, newCaller, readUser }) => {
      const { token, clientId } = await newCaller()
      await expect.poll(checkRedis).toBeNull()
      await readUser(token)
      const observer = new Redis(process.env.REDIS_URL as string)
      const key = `calls:${tenant}:${tenant}:${clientId}:${Math.floor(now / MINUTE_MS)}`
      const read = (prefix = '') => observer.get(`${prefix}:${key}`)
      try {
        await expect.poll(() => read(process.env.REDIS_PREFIX)).toBe('1')
        expect([await read('vestibule'), await observer.get(key)]).toEqual([null, null])
      } finally {
        observer.disconnect()
      }
    },
  )

  test.skipIf(!process.env.REDIS_URL)(
    'is shared by all processes',
    async ({ tenant, newCaller, readUser }) => {
      const { token, clientId } = await newCaller()
      const key = `calls:${tenant}:${tenant}:${clientId}:${Math.floor(now / MINUTE_MS)}`
      await expect.poll(checkRedis).toBeNull()
      await readUser(token)
      await expect.poll(() => getRedis()?.get(key)).toBe('1')
      // As another process counts.
      await getRedis()?.incrby(key, LIMIT - 3)
      await readUser(token)
      await expect.poll(() => getRedis()?.get(key)).toBe(String(LIMIT - 1))
      await expect.poll(async () => budgetOf((await readUser(token)).headers)[1]).toBe(0)
      expect((await readUser(token)).status).toBe(429)
      expect(await getRedis()?.ttl(key)).toBeGreaterThan(0)
    },
  )
})
