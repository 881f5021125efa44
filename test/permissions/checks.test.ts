import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createMembership } from '../../src/organizations/memberships.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { createApi } from '../../src/permissions/apis.ts'
import { createAppRole, deleteAppRole } from '../../src/permissions/app-roles.ts'
import { checkPermission, checkPermissions } from '../../src/permissions/checks.ts'
import { addGroupMembers, createGroup } from '../../src/permissions/groups.ts'
import {
  setGroupAppRoles,
  setMembershipAppRoles,
  setUserAppRoles,
} from '../../src/permissions/role-assignments.ts'
import { createUser, lockUser } from '../../src/users/users.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { recordStatements } from '../support/statements.ts'
import { test as base } from '../support/tenant-per-test.ts'

const SHOP = 'urn:shop'

/** `test` with an API, a role that gives its permission, and twelve users, five of whom have it, each in another way. */
const test = base.extend('world', async ({ tenant }) => {
  const ctx = createPlatformCtx(tenant)
  const api = await createApi(ctx, { identifier: SHOP, name: 'Shop', permissions: [{ name: 'read' }] })
  const role = await createAppRole(ctx, {
    name: 'reader',
    assignableTo: ['user', 'member'],
    permissions: [{ apiId: api.id, name: 'read' }],
  })
  const acme = await createOrganization(ctx, { name: 'Acme', slug: 'acme' })
  const users: { id: string }[] = []
  for (let n = 0; n < 12; n++) users.push(await createUser(ctx, { name: `User ${n}` }))
  const ids = users.map(({ id }) => id)
  const [direct = '', grouped = '', nested = '', member = '', deskMember = '', locked = ''] = ids
  const outer = await createGroup(ctx, { name: 'Outer' })
  const inner = await createGroup(ctx, { name: 'Inner', parentId: outer.id })
  const desk = await createGroup(ctx, { name: 'Desk', organizationId: acme.id })
  for (const userId of [direct, locked]) await setUserAppRoles(ctx, userId, { appRoleIds: [role.id] })
  await setGroupAppRoles(ctx, outer.id, { appRoleIds: [role.id] })
  await addGroupMembers(ctx, outer.id, { userIds: [grouped] })
  await addGroupMembers(ctx, inner.id, { userIds: [nested] })
  const membership = await createMembership(ctx, acme.id, { userId: member })
  await createMembership(ctx, acme.id, { userId: deskMember })
  await setMembershipAppRoles(ctx, membership.id, { appRoleIds: [role.id] })
  await setGroupAppRoles(ctx, desk.id, { appRoleIds: [role.id] })
  await addGroupMembers(ctx, desk.id, { userIds: [deskMember] })
  await lockUser(ctx, locked)
  const check = (userId: string, more: object = {}) =>
    checkPermission(ctx, { userId, permission: 'read', api: SHOP, ...more })
  return {
    ctx,
    role,
    acme,
    ids,
    direct,
    grouped,
    nested,
    member,
    deskMember,
    locked,
    outer,
    membership,
    check,
  }
})

describe('a check of a permission', () => {
  test('says whether a user has it, and why not', async ({ world }) => {
    const { check, acme, direct, member, locked, ids } = world
    const reasonOf = async (userId: string, more?: object) => {
      const { isPermitted, reason, paths } = await check(userId, more)
      expect([isPermitted, paths]).toEqual([reason === 'granted', []])
      return reason
    }
    expect(await reasonOf(direct)).toBe('granted')
    expect(await reasonOf(locked)).toBe('locked')
    expect(await reasonOf(ids[6] ?? '')).toBe('no-role')
    expect(await reasonOf(member)).toBe('no-role')
    expect(await reasonOf(member, { organizationId: acme.id })).toBe('granted')
    expect(await reasonOf(direct, { organizationId: acme.id })).toBe('no-member')
    expect(await reasonOf(direct, { permission: 'write' })).toBe('no-permission')
    expect(await reasonOf(direct, { api: 'urn:other' })).toBe('no-permission')
    expect(await reasonOf('user_01m7xeb1sbendby702xerkqv3p')).toBe('no-user')
  })

  test('explains the ways to it', async ({ world }) => {
    const { check, role, acme, nested, grouped, direct, member, outer, membership, ctx } = world
    const pathsOf = async (userId: string, more: object = {}) =>
      (await check(userId, { explain: true, ...more })).paths
    const way = { roleId: role.id, roleName: 'reader', groupId: null, groupName: null, membershipId: null }
    expect(await pathsOf(direct)).toEqual([way])
    for (const userId of [grouped, nested])
      expect(await pathsOf(userId)).toEqual([{ ...way, groupId: outer.id, groupName: 'Outer' }])
    expect(await pathsOf(member, { organizationId: acme.id })).toEqual([
      { ...way, membershipId: membership.id },
    ])
    await setUserAppRoles(ctx, nested, { appRoleIds: [role.id] })
    expect(await pathsOf(nested)).toMatchObject([{ groupId: null }, { groupId: outer.id }])
  })

  test('is answered with a thousand others by one statement', async ({ world: { ctx, ids } }) => {
    const checks = Array.from({ length: 1000 }, (_, n) => ({
      userId: ids[n % ids.length],
      permission: 'read',
      api: SHOP,
    }))
    const answered: Awaited<ReturnType<typeof checkPermissions>>[] = []
    const statements = await recordStatements(async () => {
      answered.push(await checkPermissions(ctx, { checks }))
    })
    expect(statements).toHaveLength(1)
    const permitted = answered[0]?.results.map(({ isPermitted }) => isPermitted)
    expect(permitted?.slice(0, 12)).toEqual(ids.map((_, index) => index < 3))
    expect(permitted).toHaveLength(1000)
    await expect(checkPermissions(ctx, { checks: [...checks, ...checks] })).rejects.toMatchObject({
      fields: [{ field: 'checks', description: 'must have at most 1000 checks' }],
    })
  })

  test('knows at once that a role was taken away', async ({ app, tenant, world }) => {
    const { ctx, direct, role } = world
    const token = await tokenFor(tenant)
    const isPermitted = async () =>
      (
        await app.rest(tenant, token, 'POST', '/permission-check', {
          userId: direct,
          permission: 'read',
          api: SHOP,
        })
      ).body.isPermitted
    expect(await isPermitted()).toBe(true)
    // Another handle, as another process has.
    await setUserAppRoles(createPlatformCtx(tenant), direct, { appRoleIds: [] })
    expect(await isPermitted()).toBe(false)
    await setUserAppRoles(ctx, direct, { appRoleIds: [role.id] })
    expect(await isPermitted()).toBe(true)
    await deleteAppRole(ctx, role.id)
    expect(await isPermitted()).toBe(false)
  })

  test('sees nothing of another tenant', async ({ world: { direct } }) => {
    const ctx = createPlatformCtx(await newTenant())
    await createApi(ctx, { identifier: SHOP, name: 'Shop', permissions: [{ name: 'read' }] })
    expect(await checkPermission(ctx, { userId: direct, permission: 'read', api: SHOP })).toMatchObject({
      reason: 'no-user',
    })
  })
})

describe('the users who have a permission', () => {
  test('are listed by page and by cursor, forward and backward', async ({ gql, world }) => {
    const { direct, grouped, nested } = world
    const list = async (args: string) =>
      (
        await gql(`{ whoCan(filter: { permission: "read", api: "${SHOP}" }, ${args}) {
          totalSize nodes { id } pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
        } }`)
      ).body.data.whoCan
    const toIds = ({ nodes }: { nodes: { id: string }[] }) => nodes.map(({ id }) => id)
    const first = await list('first: 2')
    expect([first.totalSize, toIds(first), first.pageInfo.hasNextPage]).toEqual([3, [direct, grouped], true])
    const second = await list(`first: 2, after: "${first.pageInfo.endCursor}"`)
    expect([toIds(second), second.pageInfo.hasNextPage]).toEqual([[nested], false])
    const back = await list(`last: 1, before: "${second.pageInfo.startCursor}"`)
    expect([toIds(back), back.pageInfo.hasPreviousPage]).toEqual([[grouped], true])
    expect(toIds(await list('page: 1, pageSize: 2'))).toEqual([nested])
  })

  test('are the members of an organization there, and the permissions of each agree', async ({
    rest,
    gql,
    world,
  }) => {
    const { acme, member, deskMember, locked } = world
    const { body } = await rest(
      'GET',
      `/permitted-users?permission=read&api=${SHOP}&organizationId=${acme.id}`,
    )
    expect(body.users.map(({ id }: { id: string }) => id)).toEqual([member, deskMember])
    const { body: read } = await gql(
      `{ user(id: "${member}") { permissions { name } inAcme: permissions(organizationId: "${acme.id}") { api name } } }`,
    )
    expect(read.data.user).toEqual({ permissions: [], inAcme: [{ api: SHOP, name: 'read' }] })
    expect(body.users.map(({ id }: { id: string }) => id)).not.toContain(locked)
  })

  test('need the permission and the API, and both scopes', async ({ app, tenant, rest }) => {
    for (const query of ['', '?permission=read', `?api=${SHOP}`])
      expect((await rest('GET', `/permitted-users${query}`)).body.totalSize).toBe(0)
    for (const scope of ['users:read', 'roles:read'] as const) {
      const token = await tokenFor(tenant, [scope])
      const path = `/permitted-users?permission=read&api=${SHOP}`
      expect((await app.rest(tenant, token, 'GET', path)).status).toBe(403)
    }
  })
})
