import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { createApiKey, revokeApiKey, rotateApiKey, updateApiKey } from '../../src/api-keys/api-keys.ts'
import { type Ctx, createPlatformCtx } from '../../src/context/context.ts'
import { newId } from '../../src/core/crypto.ts'
import type { Scope } from '../../src/core/scopes.ts'
import { createApi } from '../../src/permissions/apis.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { lockUserRow } from '../../src/users/lock-user.sql.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { createUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { test } from '../support/fixtures.ts'

const KEY = { name: 'Export', scopes: ['users:read'] }
const LACKING = { status: 403, message: expect.stringContaining('scopes that the caller lacks') }

describe('createApiKey', () => {
  test('returns the key once; the database and the log have none of it', async ({
    rest,
    gql,
    tenant,
    events,
  }) => {
    const { status, body, headers } = await rest('POST', '/api-keys', KEY)
    expect([status, headers.get('location')]).toEqual([201, `/${tenant}/api/v1/api-keys/${body.id}`])
    expect(body).toMatchObject({ ...KEY, owner: 'tenant', userId: null, start: body.key.slice(0, 9) })
    const answers = [
      await rest('GET', `/api-keys/${body.id}`),
      await rest('GET', '/api-keys'),
      await gql('{ apiKeys(first: 5) { nodes { id name start scopes owner } } }'),
    ]
    expect(answers[2]?.body.data.apiKeys.nodes).toContainEqual({
      id: body.id,
      name: 'Export',
      start: body.start,
      scopes: ['users:read'],
      owner: 'TENANT',
    })
    const secrets = await dbFor(tenant).apiKeySecret.findMany({ where: { tenantId: tenant } })
    const log = await events()
    expect(log.find(({ subjectIds }) => subjectIds.includes(body.id))).toMatchObject({
      type: 'api_key.created',
      detail: { scopes: 'users:read', resources: '', allowed_networks: '' },
    })
    for (const text of [answers, secrets, log]) expect(JSON.stringify(text)).not.toContain(body.key)
  })

  test('rejects scopes that the caller or the owner lacks, so that no caller gets more by a key', async ({
    ctx,
    tenant,
    rest,
  }) => {
    const caller = { ...ctx, scopes: new Set<Scope>(['api_keys:write', 'users:read']) }
    await expect(createApiKey(caller, { ...KEY, scopes: ['users:write'] })).rejects.toMatchObject(LACKING)
    const { apiKey: strong } = await createApiKey(ctx, { ...KEY, scopes: ['clients:write'] })
    for (const control of [updateApiKey, rotateApiKey, revokeApiKey])
      await expect(control(caller, strong.id, {})).rejects.toMatchObject(LACKING)
    const { apiKey: weak } = await createApiKey(caller, KEY)
    await expect(updateApiKey(caller, weak.id, { scopes: ['users:write'] })).rejects.toMatchObject(LACKING)
    // A key is a caller like others.
    const { key } = await createApiKey(ctx, { ...KEY, scopes: ['api_keys:write', 'users:read'] })
    const more = { name: 'More', scopes: ['api_keys:write', 'clients:write'] }
    expect((await rest('POST', '/api-keys', more, { token: key })).status).toBe(403)
    expect((await rest('POST', '/api-keys', KEY, { token: key })).status).toBe(201)
    // The roles support and auditor create none.
    const { id: userId } = await createUser(ctx, { name: 'Sue' })
    await setUserRoles(createPlatformCtx(tenant), userId, { roles: ['support'] })
    await expect(
      createApiKey(ctx, { ...KEY, userId, scopes: ['users:read', 'clients:read'] }),
    ).rejects.toMatchObject({
      fields: [{ field: 'scopes.1', description: 'is not permitted by the roles of the user' }],
    })
    await expect(
      createApiKey(createPlatformCtx(tenant), { ...KEY, scopes: ['tenants:read'] }),
    ).rejects.toMatchObject({
      fields: [{ field: 'scopes.0' }],
    })
  })

  test('makes and changes keys of a user only for callers who control the user', async ({ ctx, tenant }) => {
    const { identifier } = await createApi(ctx, { identifier: 'https://api.pay.example', name: 'Pay' })
    const input = {
      name: 'Pay',
      userId: (await createUser(ctx, { name: 'Root' })).id,
      resources: [identifier],
    }
    await setUserRoles(createPlatformCtx(tenant), input.userId, { roles: ['admin'] })
    const { apiKey } = await createApiKey(ctx, input)
    const lone: Ctx = { ...ctx, scopes: new Set(['api_keys:write']) }
    const writer: Ctx = { ...ctx, scopes: new Set(['api_keys:write', 'users:write']) }
    const { id: plainId } = await createUser(ctx, { name: 'Ada' })
    const { apiKey: plain } = await createApiKey(writer, { ...input, userId: plainId })
    for (const [caller, userId, { id }] of [
      [lone, input.userId, apiKey],
      [writer, input.userId, apiKey],
      [lone, plainId, plain],
    ] as const) {
      await expect(createApiKey(caller, { ...input, userId })).rejects.toMatchObject({ code: 'FORBIDDEN' })
      for (const control of [updateApiKey, rotateApiKey, revokeApiKey])
        await expect(control(caller, id, {})).rejects.toMatchObject({ code: 'FORBIDDEN' })
    }
  })

  test('names every invalid field', async ({ ctx }) => {
    const input = {
      name: '',
      scopes: ['root'],
      allowedNetworks: ['10.0.0.0/33'],
      expiresInSeconds: 1,
      more: 1,
    }
    await expect(createApiKey(ctx, input)).rejects.toMatchObject({
      fields: ['name', 'scopes.0', 'allowedNetworks.0', 'expiresInSeconds', 'more'].map((field) =>
        expect.objectContaining({ field }),
      ),
    })
    await expect(createApiKey(ctx, { name: 'x', resources: ['https://none.example'] })).rejects.toMatchObject(
      {
        fields: [{ field: 'resources.0' }],
      },
    )
    await expect(createApiKey(ctx, { ...KEY, userId: newId('user') })).rejects.toMatchObject({ status: 404 })
  })

  test('limits the lifetime by the setting of the tenant, which a rotation keeps', async ({
    ctx,
    onTestFinished,
  }) => {
    const now = new Date()
    const secondsOf = ({ apiKey: { expiresAt } }: { apiKey: { expiresAt: Date } }, from = now) =>
      (expiresAt.getTime() - from.getTime()) / 1000
    expect(secondsOf(await createApiKey(ctx, KEY, { now }))).toBe(31_536_000)
    const brief = await createApiKey(ctx, { ...KEY, expiresInSeconds: 7200 }, { now })
    await updateSettings(ctx, { apiKeyLifetimeSeconds: 3600 })
    onTestFinished(async () => {
      await updateSettings(ctx, { apiKeyLifetimeSeconds: null })
    })
    await expect(createApiKey(ctx, { ...KEY, expiresInSeconds: 3601 })).rejects.toMatchObject({
      fields: [{ field: 'expiresInSeconds', description: expect.stringContaining('3600') }],
    })
    const later = new Date(now.getTime() + 60_000)
    expect(secondsOf(await rotateApiKey(ctx, brief.apiKey.id, {}, { now: later }), later)).toBe(3600)
  })

  test('creates at most 50 keys of a user, of all that are asked for at once', async ({ ctx, tenant }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const row = { tenantId: tenant, userId, name: 'x', start: 'vstb_0000', expiresAt: new Date('2100-01-01') }
    await dbFor(tenant).apiKey.createMany({
      data: Array.from({ length: 46 }, (_, n) => ({ ...row, id: `k${n}` })),
    })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => createApiKey(ctx, { name: 'x', userId })),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
    expect(outcomes.find((outcome) => outcome.status === 'rejected')).toMatchObject({
      reason: { status: 409 },
    })
  })
})

describe('listApiKeys', () => {
  test('filters by owner and by user', async ({ rest, gql, ctx }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const { apiKey } = await createApiKey(ctx, { name: 'Own', userId })
    const { body } = await rest('GET', `/api-keys?userId=${userId}`)
    expect(body.apiKeys).toMatchObject([{ id: apiKey.id, owner: 'user', userId }])
    const owners = await rest('GET', '/api-keys?owner=tenant')
    expect(new Set(owners.body.apiKeys.map((key: { owner: string }) => key.owner))).toEqual(
      new Set(['tenant']),
    )
    const nodes = await gql(
      'query ($userId: ID) { apiKeys(first: 5, filter: { owner: USER, userId: $userId }) { totalSize nodes { user { name } } } }',
      { userId },
    )
    expect(nodes.body.data.apiKeys).toEqual({ totalSize: 1, nodes: [{ user: { name: 'Ada' } }] })
    expect(
      (await rest('GET', `/api-keys/${apiKey.id}`, undefined, { tenant: await newTenant() })).status,
    ).toBe(404)
  })
})

describe('a change of a key', () => {
  test('waits for a change of its user that deletes the key', async ({ ctx, tenant }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const { apiKey } = await createApiKey(ctx, { name: 'Own', userId })
    const deletion = ctx.db.transaction(async (tx) => {
      await lockUserRow(tx, userId)
      await sleep(400)
      await tx.prisma.apiKey.deleteMany({ where: { tenantId: tenant, userId } })
    })
    await sleep(150)
    expect(await Promise.allSettled([deletion, updateApiKey(ctx, apiKey.id, { scopes: [] })])).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { status: 404 } },
    ])
  })
})

describe('the events of a key', () => {
  test('have the user and the id of the key', async ({ ctx, events }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const { apiKey } = await createApiKey(ctx, { name: 'Own', userId, allowedNetworks: ['::1'] })
    await updateApiKey(ctx, apiKey.id, { name: 'Renamed', scopes: [], allowedNetworks: ['::1'] })
    await updateApiKey(ctx, apiKey.id, { name: 'Renamed', allowedNetworks: [] })
    await updateApiKey(ctx, apiKey.id, { name: 'Renamed' })
    await rotateApiKey(ctx, apiKey.id, { overlapSeconds: 0 })
    await revokeApiKey(ctx, apiKey.id)
    const log = (await events()).filter(({ subjectIds }) => subjectIds.includes(apiKey.id))
    expect(
      log.map(({ type, userId: of, changedFields, detail }) => [type, of, changedFields, detail]),
    ).toEqual([
      ['api_key.created', userId, [], { scopes: '', resources: '', allowed_networks: '::1' }],
      ['api_key.updated', userId, ['name'], null],
      ['api_key.updated', userId, ['allowedNetworks'], null],
      ['api_key.rotated', userId, [], { previous_expires_at: null }],
      ['api_key.revoked', userId, [], null],
    ])
    await expect(revokeApiKey(ctx, apiKey.id)).rejects.toMatchObject({ status: 404 })
  })
})
