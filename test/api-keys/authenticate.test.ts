import { describe, expect } from 'vitest'
import { createKeyText, isKeyText } from '../../src/access/api-keys/key-text.ts'
import { createApiKey, revokeApiKey, rotateApiKey } from '../../src/api-keys/api-keys.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { createUser, lockUser, unlockUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { dbFor, sql } from '../support/database.ts'
import { test as base } from '../support/fixtures.ts'
import { countWarmStatements } from '../support/statements.ts'

const VIEWER = '{ viewer { scopes client { id } user { id } tokenExpiresAt } }'

const test = base
  .extend('makeKey', { scope: 'file' }, ({ ctx }) => async (input: object = {}) => {
    const { apiKey, key } = await createApiKey(ctx, { name: 'Export', scopes: ['users:read'], ...input })
    return { id: apiKey.id, key }
  })
  /** Reads users over REST by a key. */
  .extend(
    'read',
    { scope: 'file' },
    ({ rest }) =>
      async (token: string, tenant?: string) =>
        (await rest('GET', '/users?pageSize=1', undefined, { token, ...(tenant && { tenant }) })).status,
  )
  .extend('makeUser', { scope: 'file' }, ({ ctx, tenant }) => async (roles: string[]) => {
    const { id } = await createUser(ctx, { name: 'Ada' })
    await setUserRoles(createPlatformCtx(tenant), id, { roles })
    return id
  })

/** The last character of the checksum replaced by another. */
const misspell = (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')

describe('an API key', () => {
  test('has a prefix that scanners find, 256 random bits and a checksum', () => {
    const keys = Array.from({ length: 200 }, createKeyText)
    for (const key of keys) expect(key).toMatch(/^vstb_[0-9A-Za-z]{49}$/)
    expect(new Set(keys).size).toBe(200)
    const [key = ''] = keys
    expect(isKeyText(key)).toBe(true)
    for (let place = 0; place < key.length; place++) {
      const changed = key.slice(0, place) + (key[place] === 'x' ? 'y' : 'x') + key.slice(place + 1)
      expect(isKeyText(changed)).toBe(false)
    }
    for (const other of ['', 'vstb_', key.slice(1), `${key}0`, ` ${key}`, key.toUpperCase()])
      expect(isKeyText(other)).toBe(false)
  })

  test('of the tenant authenticates calls of both surfaces with its scopes', async ({
    gql,
    read,
    rest,
    makeKey,
    events,
  }) => {
    const { id, key } = await makeKey({ scopes: ['users:read', 'users:write'] })
    const { body } = await gql(VIEWER, {}, { token: key })
    expect(body.data.viewer).toMatchObject({
      scopes: ['users:read', 'users:write'],
      client: null,
      user: null,
    })
    expect(Date.parse(body.data.viewer.tokenExpiresAt)).toBeGreaterThan(Date.now())
    expect(await read(key)).toBe(200)
    expect((await rest('GET', '/clients', undefined, { token: key })).status).toBe(403)
    const made = await rest('POST', '/users', { name: 'Bob' }, { token: key })
    expect(made.status).toBe(201)
    expect((await events()).findLast(({ userId }) => userId === made.body.id)).toMatchObject({
      type: 'user.created',
      actorApiKeyId: id,
      actorClientId: null,
      actorUserId: null,
    })
    const found = await rest('GET', `/events?actorId=${id}`)
    expect(found.body.events).toMatchObject([{ type: 'user.created', actor: { apiKeyId: id } }])
  })

  test('of the tenant is named by the memberships that it makes', async ({ rest, makeKey, makeUser }) => {
    const { id, key } = await makeKey({ scopes: ['organizations:write'] })
    const { body } = await rest('POST', '/organizations', { slug: 'acme', name: 'Acme' }, { token: key })
    const input = { userId: await makeUser([]) }
    const member = await rest('POST', `/organizations/${body.id}/members`, input, { token: key })
    expect(member.body.addedBy).toBe(id)
  })

  test('of a user permits what the roles permit at each call, and nothing of the own account', async ({
    tenant,
    gql,
    read,
    makeKey,
    makeUser,
  }) => {
    const userId = await makeUser(['support'])
    const { key } = await makeKey({ userId, scopes: ['users:read', 'sessions:read'] })
    const viewer = async () => (await gql(VIEWER, {}, { token: key })).body
    expect((await viewer()).data.viewer.scopes).toEqual(['sessions:read', 'users:read'])
    const own = 'mutation { updateViewer(input: { name: "Eve" }) { __typename } }'
    expect((await gql(own, {}, { token: key })).body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    await setUserRoles(createPlatformCtx(tenant), userId, { roles: [] })
    expect((await viewer()).data.viewer.scopes).toEqual([])
    expect(await read(key)).toBe(403)
  })

  test('is rejected while its user is locked', async ({ ctx, read, makeKey, makeUser }) => {
    const userId = await makeUser(['support'])
    const { key } = await makeKey({ userId })
    expect(await read(key)).toBe(200)
    await lockUser(ctx, userId)
    expect(await read(key)).toBe(401)
    await unlockUser(ctx, userId)
    expect(await read(key)).toBe(200)
  })

  test('is rejected when it is misspelled, expired, revoked, or of another tenant', async ({
    ctx,
    tenant,
    read,
    makeKey,
  }) => {
    const { id, key } = await makeKey()
    expect(await read(misspell(key))).toBe(401)
    expect(await read(createKeyText())).toBe(401)
    const other = await newTenant()
    expect(await read(key, other)).toBe(401)
    await dbFor(tenant).apiKey.update({
      where: { tenantId_id: { tenantId: tenant, id } },
      data: { expiresAt: new Date(Date.now() - 1) },
    })
    expect(await read(key)).toBe(401)
    const revoked = await makeKey()
    expect(await read(revoked.key)).toBe(200)
    await revokeApiKey(ctx, revoked.id)
    expect(await read(revoked.key)).toBe(401)
  })

  test('is accepted with its successor until the overlap ends, and not after a second rotation', async ({
    ctx,
    read,
    makeKey,
    tenant,
  }) => {
    const { id, key: first } = await makeKey()
    const { key: second, previousExpiresAt } = await rotateApiKey(ctx, id, { overlapSeconds: 60 })
    expect(previousExpiresAt?.getTime()).toBeGreaterThan(Date.now())
    expect([await read(first), await read(second)]).toEqual([200, 200])
    const { key: third } = await rotateApiKey(ctx, id, { overlapSeconds: 60 })
    expect([await read(first), await read(second), await read(third)]).toEqual([401, 200, 200])
    await sql(
      `UPDATE "ApiKeySecret" SET "expiresAt" = now() WHERE "tenantId" = $1 AND "apiKeyId" = $2 AND "expiresAt" IS NOT NULL`,
      [tenant, id],
    )
    expect([await read(second), await read(third)]).toEqual([401, 200])
    const { key: last } = await rotateApiKey(ctx, id, { overlapSeconds: 0 })
    expect([await read(third), await read(last)]).toEqual([401, 200])
  })

  test('keeps two secrets when it is rotated many times at once', async ({ ctx, read, makeKey }) => {
    const { id } = await makeKey()
    const rotated = await Promise.all(Array.from({ length: 6 }, () => rotateApiKey(ctx, id, {})))
    const statuses = await Promise.all(rotated.map(({ key }) => read(key)))
    expect(statuses.filter((status) => status === 200)).toHaveLength(2)
  })

  test('is accepted in the header Authorization with the scheme Bearer only', async ({
    app,
    tenant,
    makeKey,
  }) => {
    const { key } = await makeKey()
    const statusOf = async (path: string, headers: Record<string, string> = {}) =>
      (await app.fetch(`/${tenant}/${path}`, { headers })).status
    for (const name of ['access_token', 'api_key', 'key', 'token'])
      expect(await statusOf(`api/v1/users?${name}=${key}`)).toBe(401)
    const inQuery = await app.fetch(`/${tenant}/graphql?query={viewer{scopes}}&access_token=${key}`)
    expect(await inQuery.text()).toContain('UNAUTHENTICATED')
    expect(await statusOf('api/v1/users', { 'x-api-key': key })).toBe(401)
    expect(await statusOf('api/v1/users', { authorization: `DPoP ${key}` })).toBe(401)
    expect(await statusOf('api/v1/users', { authorization: `Basic ${btoa(`${key}:`)}` })).toBe(401)
    expect(await statusOf('api/v1/users', { authorization: `Bearer ${key}` })).toBe(200)
    expect(await statusOf('oidc/userinfo', { authorization: `Bearer ${key}` })).toBe(401)
  })

  test('is accepted from its networks only', async ({ read, makeKey, rest }) => {
    expect(await read((await makeKey({ allowedNetworks: ['127.0.0.0/8'] })).key)).toBe(200)
    expect(await read((await makeKey({ allowedNetworks: ['203.0.113.0/24', '::1'] })).key)).toBe(401)
    const { id, key } = await makeKey({ allowedNetworks: ['203.0.113.77/24'] })
    expect((await rest('GET', `/api-keys/${id}`)).body.allowedNetworks).toEqual(['203.0.113.0/24'])
    await rest('PATCH', `/api-keys/${id}`, { allowedNetworks: [] })
    expect(await read(key)).toBe(200)
  })

  test('costs one statement, and records its use at most once a minute beside the call', async ({
    ctx,
    tenant,
    app,
    makeKey,
    makeUser,
  }) => {
    for (const userId of [null, await makeUser(['auditor'])]) {
      const { id, key } = await makeKey({ userId })
      const call = () => app.gql(tenant, key, '{ viewer { scopes } }')
      const used = async () =>
        (await ctx.db.prisma.apiKey.findUnique({ where: { tenantId_id: { tenantId: tenant, id } } }))
          ?.lastUsedAt
      expect(await used()).toBeNull()
      await call()
      await awaitDeliveries()
      const first = await used()
      expect(first).toBeInstanceOf(Date)
      expect(await countWarmStatements(call, call)).toBe(1)
      await awaitDeliveries()
      expect(await used()).toEqual(first)
    }
  })

  test('that is misspelled costs no statement', async ({ app, tenant, makeKey }) => {
    const { key } = await makeKey()
    const call = () => app.rest(tenant, misspell(key), 'GET', '/users')
    expect(await countWarmStatements(call, call)).toBe(0)
  })
})

describe('guesses', () => {
  test('of a network are rejected after 100 in a minute, many by one statement, and keys are not', async ({
    app,
  }) => {
    const tenant = await newTenant()
    const ctx = await ctxFor(tenant)
    const known = await createApiKey(ctx, { name: 'Known', scopes: ['users:read'] })
    const unseen = await createApiKey(ctx, { name: 'Unseen', scopes: ['users:read'] })
    const call = (key: string) => app.rest(tenant, key, 'GET', '/users?pageSize=1')
    expect((await call(known.key)).status).toBe(200)
    // Each clock minute has its own hundred.
    let accepted = 0
    while (accepted <= 200 && (await call(createKeyText())).status === 401) accepted += 1
    expect(accepted).toBeGreaterThanOrEqual(100)
    expect(accepted).toBeLessThanOrEqual(200)
    const guess = () => Promise.all(Array.from({ length: 20 }, () => call(createKeyText())))
    expect(await countWarmStatements(guess, guess)).toBe(1)
    expect(new Set((await guess()).map(({ status }) => status))).toEqual(new Set([429]))
    expect((await call(known.key)).status).toBe(200)
    expect((await call(unseen.key)).status).toBe(200)
  })
})
