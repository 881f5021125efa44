import { randomUUID } from 'node:crypto'
import { describe, expect, vi } from 'vitest'
import { createApiKey } from '../../src/api-keys/api-keys.ts'
import { RATE_LIMITS } from '../../src/coordination/rate-limits.ts'
import { test as base } from '../support/fixtures.ts'
import type { Json } from '../support/json.ts'

// Before the imports of src/, which read the environment.
vi.hoisted(() => {
  process.env.TRUST_PROXY = '1'
})

const from = (id: string) => ({ 'x-request-id': id })

/** Calls the management surface with further headers. */
const test = base.extend(
  'call',
  { scope: 'file' },
  ({ app, tenant, token }) =>
    async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
      const response = await app.fetch(`/${tenant}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      return {
        status: response.status,
        id: response.headers.get('x-request-id'),
        body: (await response.json()) as Json,
      }
    },
)

describe('the id of a request behind a trusted proxy', () => {
  test('is the X-Request-Id of the proxy in headers, errors and events, over REST and GraphQL', async ({
    events,
    call,
  }) => {
    const newId = () => `job-${randomUUID()}`
    const ids = [newId(), newId(), newId(), newId(), newId()] as const
    const made = await call('POST', '/api/v1/users', { name: 'Ada' }, from(ids[0]))
    expect([made.status, made.id]).toEqual([201, ids[0]])
    const rejected = await call('PATCH', `/api/v1/users/${made.body.id}`, { email: 'none' }, from(ids[1]))
    expect([rejected.status, rejected.id, rejected.body.requestId]).toEqual([400, ids[1], ids[1]])
    const locked = await call(
      'POST',
      '/graphql',
      { query: `mutation { lockUser(input: { userId: "${made.body.id}" }) { __typename } }` },
      from(ids[2]),
    )
    expect([locked.id, locked.body.data.lockUser.__typename]).toEqual([ids[2], 'LockUserPayload'])
    const errors = await call(
      'POST',
      '/graphql',
      {
        query: `mutation { updateUser(input: { userId: "${made.body.id}", email: "none" }) {
          ... on UserError { requestId } } tenants: deleteTenant(input: { slug: "none" }) { __typename } }`,
      },
      from(ids[3]),
    )
    expect([
      errors.id,
      errors.body.data.updateUser.requestId,
      errors.body.errors[0].extensions.requestId,
    ]).toEqual([ids[3], ids[3], ids[3]])
    const gone = await call('DELETE', `/api/v1/users/${made.body.id}`, undefined, from(ids[4]))
    expect([gone.id, gone.body.requestId]).toEqual([ids[4], ids[4]])
    const recorded = await events({ userId: made.body.id })
    expect(recorded.map(({ type, requestId }) => [type, requestId]).toSorted()).toEqual([
      ['user.created', ids[0]],
      ['user.deleted', ids[4]],
      ['user.locked', ids[2]],
    ])
  })

  test('is a new one when the header is missing or malformed', async ({ call }) => {
    const made = new Set<string>()
    for (const given of [
      '',
      'short',
      'a b c d e f g h',
      '"quoted-text"',
      '<script>alert(1)</script>',
      'x'.repeat(65),
    ]) {
      const { id, body } = await call('GET', '/api/v1/users/user_x', undefined, from(given))
      expect(id).not.toBe(given)
      expect(body.requestId).toBe(id)
      made.add(String(id))
    }
    expect(made.size).toBe(6)
  })
})

/** Texts that name an address, and are none. */
const NO_ADDRESSES = [
  (i: number) => `203.0.113.7:${i + 1000}`,
  (i: number) => `[2001:db8:${i}::1]`,
  (i: number) => `[2001:db8::1]:${i + 1000}`,
  (i: number) => `unknown${i}`,
  (i: number) => `"203.0.113.${i % 250}"`,
  (i: number) => `for=203.0.113.${i % 250}`,
  (i: number) => `0${i}.0.0.1`,
  (i: number) => String(3_405_803_776 + i),
]

describe('the address of a request behind a trusted proxy', () => {
  test('is the last one of X-Forwarded-For', async ({ events, call }) => {
    const addAs = async (forwarded: string) => {
      const { body } = await call('POST', '/api/v1/users', { name: 'Ada' }, { 'x-forwarded-for': forwarded })
      return (await events({ userId: body.id })).map(({ ip }) => ip)
    }
    expect(await addAs('198.51.100.9, 203.0.113.7')).toEqual(['203.0.113.7'])
    expect(await addAs('198.51.100.9,2001:DB8::0:1')).toEqual(['2001:db8::1'])
    expect(await addAs('::ffff:203.0.113.8')).toEqual(['203.0.113.8'])
  })

  test('is compared with the networks of an API key, whatever the caller writes before it', async ({
    ctx,
    call,
  }) => {
    const { key } = await createApiKey(ctx, {
      name: 'Export',
      scopes: ['users:read'],
      allowedNetworks: ['203.0.113.0/24'],
    })
    const statusFrom = async (forwarded: string) =>
      (
        await call('GET', '/api/v1/users', undefined, {
          'x-forwarded-for': forwarded,
          authorization: `Bearer ${key}`,
        })
      ).status
    expect(await statusFrom('198.51.100.9, 203.0.113.7')).toBe(200)
    expect(await statusFrom('203.0.113.7, 198.51.100.9')).toBe(401)
    expect(await statusFrom('203.0.113.7, unknown')).toBe(401)
  })

  test.for(NO_ADDRESSES.map((write) => [write(1), write] as const))(
    'is that of the proxy when X-Forwarded-For ends with %s',
    async ([, write], { events, call }) => {
      const made = await call(
        'POST',
        '/api/v1/users',
        { name: 'Ada' },
        { 'x-forwarded-for': `198.51.100.9, ${write(1)}` },
      )
      expect((await events({ userId: made.body.id })).map(({ ip }) => ip)).toEqual(['127.0.0.1'])
    },
  )

  test('cannot be varied to escape a limit by ports, brackets or other text', async ({ app, tenant }) => {
    const statuses: number[] = []
    for (let i = 0; i <= RATE_LIMITS.clientAuthentication.points; i++) {
      const write = NO_ADDRESSES[i % NO_ADDRESSES.length] ?? String
      const { status } = await app.fetch(`/${tenant}/oidc/token`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-forwarded-for': write(i),
        },
        body: 'client_id=x&client_secret=y',
      })
      statuses.push(status)
    }
    expect(statuses.slice(-2)).toEqual([401, 429])
  })
})
