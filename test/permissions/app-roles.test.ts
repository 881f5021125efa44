import { describe, expect } from 'vitest'
import {
  buildClientAccessSql,
  buildUserAccessSql,
  type EffectiveAccess,
  selectClientAccess,
  selectUserAccess,
} from '../../src/access/effective-access.sql.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { statement, typed } from '../../src/database/statement.ts'
import { createApi } from '../../src/permissions/apis.ts'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import {
  findUserAppRoles,
  setClientAppRoles,
  setUserAppRoles,
} from '../../src/permissions/role-assignments.ts'
import { createUser } from '../../src/users/users.ts'
import { newTenant, TENANT_SCOPES, tokenFor } from '../support/actors.ts'
import { makeClient } from '../support/protocol.ts'
import { countStatements } from '../support/statements.ts'
import { test as base } from '../support/tenant-per-test.ts'

const SHOP = 'https://api.shop.example'
const STOCK = 'https://api.stock.example'

/** A statement of a hot path, in short. */
const SELECT_BOTH = statement({
  takes: { ids: 'text[]' },
  returns: { user: typed<EffectiveAccess | null>('jsonb?'), client: typed<EffectiveAccess | null>('jsonb?') },
})`
  SELECT ${buildUserAccessSql('u."id"', ':ids')} AS "user", ${buildClientAccessSql('c."id"', ':ids')} AS "client"
  FROM "User" u JOIN "Client" c ON c."tenantId" = :tenant AND c."appType" = 'machine' WHERE u."tenantId" = :tenant`

/** `test` with two APIs and three roles: `clerk` at both, `keeper` at one, and `guest` without permissions. */
const test = base.extend('shop', async ({ tenant }) => {
  const ctx = createPlatformCtx(tenant)
  const permissions = ['read', 'write'].map((name) => ({ name }))
  const shop = await createApi(ctx, { identifier: SHOP, name: 'Shop', permissions })
  const stock = await createApi(ctx, { identifier: STOCK, name: 'Stock', permissions })
  const give = (name: string, ...given: [{ id: string }, string][]) =>
    createAppRole(ctx, {
      name,
      assignableTo: ['user', 'client'],
      permissions: given.map(([{ id: apiId }, permission]) => ({ apiId, name: permission })),
    })
  return {
    ctx,
    shop,
    stock,
    clerk: await give('clerk', [shop, 'read'], [shop, 'write'], [stock, 'read']),
    keeper: await give('keeper', [stock, 'write']),
    guest: await give('guest'),
    user: await createUser(ctx, { name: 'Ada' }),
  }
})

describe('a role', () => {
  test('is created, read, changed and deleted over REST', async ({ rest, events, shop: { shop } }) => {
    const input = {
      name: 'author',
      description: 'Writes',
      permissions: [
        { apiId: shop.id, name: 'write' },
        { apiId: shop.id, name: 'read' },
      ],
    }
    const created = await rest('POST', '/app-roles', input)
    expect(created.body).toEqual({
      ...input,
      id: expect.stringMatching(/^role_/),
      permissions: input.permissions.toReversed(),
      organizationId: null,
      assignableTo: ['user'],
      updatedAt: expect.any(String),
      createdAt: expect.any(String),
    })
    const { id } = created.body
    const path = `/app-roles/${id}`
    expect((await rest('PATCH', path, created.body)).body).toEqual(created.body)
    expect((await rest('PATCH', path, { assignableTo: ['client'] })).body.fields).toEqual([
      { field: 'assignableTo', description: 'cannot be changed' },
    ])
    const changed = await rest('PATCH', path, { permissions: [{ apiId: shop.id, name: 'read' }] })
    expect(changed.body.permissions).toEqual([{ apiId: shop.id, name: 'read' }])
    expect((await rest('POST', '/app-roles', input)).body.fields).toEqual([
      { field: 'name', description: 'is taken' },
    ])
    expect((await rest('DELETE', path)).status).toBe(200)
    expect((await rest('DELETE', path)).status).toBe(404)
    expect(await events({ subjectId: id })).toMatchObject([
      { type: 'app_role.created' },
      { type: 'app_role.updated', changedFields: ['permissions'], detail: { added: 0, removed: 1 } },
      { type: 'app_role.deleted' },
    ])
  })

  test('gives no permission of another tenant', async ({ shop: { shop } }) => {
    const ctx = createPlatformCtx(await newTenant())
    const permissions = [{ apiId: shop.id, name: 'read' }]
    await expect(createAppRole(ctx, { name: 'thief', permissions })).rejects.toMatchObject({
      fields: [{ field: 'permissions.0', description: 'is not a permission of an API of this tenant' }],
    })
  })
})

describe('the roles that a user holds', () => {
  test('are set as a whole, and recorded', async ({ rest, gql, events, shop: { clerk, guest, user } }) => {
    const path = `/users/${user.id}/app-roles`
    const set = await rest('PUT', path, { appRoleIds: [guest.id, clerk.id, guest.id] })
    expect(set.body.appRoles).toMatchObject([{ name: 'clerk' }, { name: 'guest' }])
    expect((await rest('PUT', path, { appRoleIds: [guest.id, clerk.id] })).body).toEqual(set.body)
    expect((await rest('PUT', path, { appRoleIds: [guest.id] })).body.appRoles).toMatchObject([
      { name: 'guest' },
    ])
    const read = await gql(`{ user(id: "${user.id}") { roles appRoles { name permissions { name } } } }`)
    expect(read.body.data.user).toEqual({ roles: [], appRoles: [{ name: 'guest', permissions: [] }] })
    expect(await events({ type: 'user.app_roles_changed' })).toMatchObject([
      { userId: user.id, detail: { added: 'clerk guest', removed: '' } },
      { userId: user.id, subjectIds: [clerk.id], detail: { added: '', removed: 'clerk' } },
    ])
  })

  test('are only roles of the tenant that users may hold', async ({ shop: { ctx, clerk, user } }) => {
    const machine = await createAppRole(ctx, { name: 'robot', assignableTo: ['client'] })
    const foreign = await createAppRole(createPlatformCtx(await newTenant()), { name: 'foreign' })
    const set = (appRoleIds: string[]) => setUserAppRoles(ctx, user.id, { appRoleIds })
    await expect(set([clerk.id, foreign.id, 'x'])).rejects.toMatchObject({
      code: 'NOT_FOUND',
      fields: [1, 2].map((index) => ({
        field: `appRoleIds.${index}`,
        description: 'is not a role of this tenant',
      })),
    })
    await expect(set([clerk.id, machine.id])).rejects.toMatchObject({
      fields: [{ field: 'appRoleIds.1', description: 'is not a role for a user' }],
    })
  })

  test('give no scope of the management API, and cannot be set without roles:write', async ({
    app,
    tenant,
    shop: { ctx, user },
  }) => {
    const admin = await createAppRole(ctx, { name: 'admin' })
    await setUserAppRoles(ctx, user.id, { appRoleIds: [admin.id] })
    const token = await tokenFor(
      tenant,
      TENANT_SCOPES.filter((scope) => scope !== 'roles:write'),
    )
    const roles = await app.rest(tenant, token, 'GET', `/users/${user.id}/roles`)
    expect(roles.body).toEqual({ roles: [] })
    const set = await app.rest(tenant, token, 'PUT', `/users/${user.id}/app-roles`, { appRoleIds: [] })
    expect(set.status).toBe(403)
  })
})

describe('the effective access', () => {
  test('of a user has the permissions at the APIs, and the roles that permit something there', async ({
    shop: { ctx, clerk, keeper, guest, user },
  }) => {
    expect(await selectUserAccess(ctx.db, user.id, [SHOP])).toEqual({
      roles: [],
      organizationRoles: [],
      permissions: {},
    })
    await setUserAppRoles(ctx, user.id, { appRoleIds: [clerk.id, keeper.id, guest.id] })
    expect(await selectUserAccess(ctx.db, user.id, [SHOP, 'urn:unknown'])).toMatchObject({
      roles: ['clerk'],
      permissions: { [SHOP]: ['read', 'write'] },
    })
    expect(await selectUserAccess(ctx.db, user.id, [SHOP, STOCK])).toMatchObject({
      roles: ['clerk', 'keeper'],
      permissions: { [SHOP]: ['read', 'write'], [STOCK]: ['read', 'write'] },
    })
    expect(await selectUserAccess(ctx.db, user.id, [])).toEqual({
      roles: [],
      organizationRoles: [],
      permissions: {},
    })
  })

  test('is read once for a role that several hold', async ({
    app,
    tenant,
    shop: { ctx, clerk, keeper, user },
  }) => {
    const other = await createUser(ctx, { name: 'Bea' })
    for (const { id } of [user, other]) await setUserAppRoles(ctx, id, { appRoleIds: [keeper.id, clerk.id] })
    const found = await findUserAppRoles(ctx.db, [user.id, other.id])
    expect(found.map(({ appRoles }) => appRoles.map(({ name }) => name))).toEqual([
      ['clerk', 'keeper'],
      ['clerk', 'keeper'],
    ])
    expect(found[0]?.appRoles[0]).toBe(found[1]?.appRoles[0])
    const token = await tokenFor(tenant, ['users:read', 'roles:read'])
    const document = '{ users(first: 50) { nodes { appRoles { name permissions { name } } } } }'
    expect(await countStatements(() => app.gql(tenant, token, document))).toBeLessThanOrEqual(5)
  })

  test('is a part of another statement, which computes nothing without identifiers', async ({
    tenant,
    shop: { ctx, clerk, keeper, user },
  }) => {
    await setUserAppRoles(ctx, user.id, { appRoleIds: [clerk.id] })
    const client = await makeClient(tenant, { appType: 'machine', callbacks: [] })
    await setClientAppRoles(ctx, client.id, { appRoleIds: [keeper.id] })
    expect(await ctx.db.one(SELECT_BOTH, { ids: [STOCK] })).toMatchObject({
      user: { roles: ['clerk'], permissions: { [STOCK]: ['read'] } },
      client: { roles: ['keeper'], permissions: { [STOCK]: ['write'] } },
    })
    expect(await ctx.db.one(SELECT_BOTH, { ids: [] })).toEqual({ user: null, client: null })
  })

  test('of a machine client has what its roles give', async ({ tenant, shop: { ctx, keeper } }) => {
    const client = await makeClient(tenant, { appType: 'machine', callbacks: [] })
    await setClientAppRoles(ctx, client.id, { appRoleIds: [keeper.id] })
    expect(await selectClientAccess(ctx.db, client.id, [SHOP, STOCK])).toMatchObject({
      roles: ['keeper'],
      permissions: { [STOCK]: ['write'] },
    })
    const web = await makeClient(tenant, {})
    await expect(setClientAppRoles(ctx, web.id, { appRoleIds: [keeper.id] })).rejects.toMatchObject({
      message: 'Only machine clients hold roles.',
    })
  })
})
