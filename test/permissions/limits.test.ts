import { describe, expect } from 'vitest'
import { newId } from '../../src/core/crypto.ts'
import type { Scope } from '../../src/core/scopes.ts'
import { createMembership } from '../../src/organizations/memberships.ts'
import { createOrganization, deleteOrganization } from '../../src/organizations/organizations.ts'
import { createApi, deleteApi, updateApi } from '../../src/permissions/apis.ts'
import { createAppRole, deleteAppRole } from '../../src/permissions/app-roles.ts'
import { addGroupMembers, createGroup } from '../../src/permissions/groups.ts'
import {
  getMembershipAppRoles,
  getUserAppRoles,
  giveMemberRoles,
  setMembershipAppRoles,
  setUserAppRoles,
} from '../../src/permissions/role-assignments.ts'
import { createUser, deleteUser } from '../../src/users/users.ts'
import { dbFor } from '../support/database.ts'
import { test } from '../support/tenant-per-test.ts'

const range = (count: number) => Array.from({ length: count }, (_, index) => index)

/** The values of what was fulfilled, and the codes of what was rejected. */
async function settle<Value>(attempts: Promise<Value>[]): Promise<{ values: Value[]; codes: string[] }> {
  const settled = await Promise.allSettled(attempts)
  return {
    values: settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    codes: settled.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : [])),
  }
}

describe('the limits', () => {
  test('of the roles of a member hold for invitations that are accepted at the same time', async ({
    ctx,
    tenant,
  }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const { id: organizationId } = await createOrganization(ctx, { slug: 'acme', name: 'Acme' })
    const membership = await createMembership(ctx, organizationId, { userId })
    const roles = await dbFor(tenant).appRole.createManyAndReturn({
      data: range(120).map((index) => ({
        ...{ tenantId: tenant, id: newId('role'), name: `role-${index}`, assignableTo: ['member'] },
      })),
    })
    const ids = roles.map(({ id }) => id)
    await setMembershipAppRoles(ctx, membership.id, { appRoleIds: ids.slice(0, 95) })
    await Promise.all(
      [ids.slice(90, 105), ids.slice(105)].map((given) =>
        ctx.db.transaction((tx) => giveMemberRoles(tx, ctx, membership, given)),
      ),
    )
    expect(await getMembershipAppRoles(ctx, membership.id)).toHaveLength(100)
  })

  test('of the roles and groups of a user hold for writes at the same time', async ({ ctx, tenant }) => {
    const db = dbFor(tenant)
    const user = await createUser(ctx, { name: 'Ada' })
    const roles = await db.appRole.createManyAndReturn({
      data: range(200).map((index) => ({
        ...{ tenantId: tenant, id: `role_${index}`, name: `role-${index}`, assignableTo: ['user'] },
      })),
    })
    const ids = roles.map(({ id }) => id)
    await settle(
      [ids.slice(0, 100), ids.slice(100)].map((appRoleIds) => setUserAppRoles(ctx, user.id, { appRoleIds })),
    )
    expect(await getUserAppRoles(ctx, user.id)).toHaveLength(100)
    const groups = await db.group.createManyAndReturn({
      data: range(104).map((index) => ({ tenantId: tenant, id: newId('group'), name: `group-${index}` })),
    })
    await db.groupMember.createMany({
      data: groups.slice(0, 98).map(({ id: groupId }) => ({ tenantId: tenant, groupId, userId: user.id })),
    })
    const { values, codes } = await settle(
      groups.slice(98).map(({ id }) => addGroupMembers(ctx, id, { userIds: [user.id] })),
    )
    expect([values.length, codes]).toEqual([2, Array(4).fill('CONFLICT')])
    expect(await db.groupMember.count({ where: { tenantId: tenant } })).toBe(100)
  })

  test('of a tenant hold for creations at the same time', async ({ ctx, tenant }) => {
    const db = dbFor(tenant)
    await db.appRole.createMany({
      data: range(1999).map((index) => ({
        ...{ tenantId: tenant, id: `role_${index}`, name: `role-${index}`, assignableTo: ['user'] },
      })),
    })
    const roles = await settle(range(3).map((index) => createAppRole(ctx, { name: `late-${index}` })))
    expect([roles.values.length, roles.codes]).toEqual([1, ['CONFLICT', 'CONFLICT']])
    const { id: organizationId } = await createOrganization(ctx, { name: 'Acme', slug: 'acme' })
    await db.group.createMany({
      data: range(199).map((index) => ({
        ...{ tenantId: tenant, id: newId('group'), name: `group-${index}`, organizationId },
      })),
    })
    const groups = await settle(
      range(3).map((index) => createGroup(ctx, { name: `late-${index}`, organizationId })),
    )
    expect([groups.values.length, groups.codes]).toEqual([1, ['CONFLICT', 'CONFLICT']])
  })
})

describe('a deletion', () => {
  test('names the memberships, roles and holders that it ends, a hundred at most', async ({
    ctx,
    tenant,
    events,
    rest,
  }) => {
    const acme = await createOrganization(ctx, { name: 'Acme', slug: 'acme' })
    const bolt = await createOrganization(ctx, { name: 'Bolt', slug: 'bolt' })
    const [ada, bob] = [await createUser(ctx, { name: 'Ada' }), await createUser(ctx, { name: 'Bob' })]
    const inAcme = await createMembership(ctx, acme.id, { userId: ada.id })
    const inBolt = await createMembership(ctx, bolt.id, { userId: ada.id })
    const other = await createMembership(ctx, acme.id, { userId: bob.id })
    const api = await createApi(ctx, {
      ...{ identifier: 'urn:shop', name: 'Shop', permissions: [{ name: 'read' }, { name: 'write' }] },
    })
    const role = await createAppRole(ctx, {
      name: 'clerk',
      assignableTo: ['user', 'member'],
      permissions: [{ apiId: api.id, name: 'read' }],
    })
    await setMembershipAppRoles(ctx, inAcme.id, { appRoleIds: [role.id] })
    const crowd = await dbFor(tenant).user.createManyAndReturn({
      data: range(120).map((index) => ({ tenantId: tenant, id: `user_${String(index).padStart(3, '0')}` })),
    })
    await dbFor(tenant).userAppRole.createMany({
      data: crowd.map(({ id: userId }) => ({ tenantId: tenant, userId, roleId: role.id })),
    })
    await updateApi(ctx, api.id, { permissions: [{ name: 'read' }] })
    await deleteApi(ctx, api.id)
    await deleteAppRole(ctx, role.id)
    await deleteOrganization(ctx, acme.id)
    await deleteUser(ctx, ada.id)
    expect(await events({ type: 'api.updated' })).toMatchObject([
      { detail: { added: 0, removed: 1, roles: 0 }, subjectIds: [api.id] },
    ])
    expect(await events({ type: 'api.deleted' })).toMatchObject([
      { detail: { roles: 1 }, subjectIds: [api.id, role.id] },
    ])
    expect(await events({ type: 'app_role.deleted' })).toMatchObject([
      {
        detail: { users: 120, clients: 0, memberships: 1, groups: 0 },
        subjectIds: [role.id, ...crowd.slice(0, 100).map(({ id }) => id)],
      },
    ])
    const ended = await events({ type: 'membership.deleted' })
    expect(
      ended.map(({ userId, organizationId, subjectIds }) => [userId, organizationId, ...subjectIds]).sort(),
    ).toEqual(
      [
        [ada.id, acme.id, inAcme.id],
        [bob.id, acme.id, other.id],
        [ada.id, bolt.id, inBolt.id],
      ].sort(),
    )
    // A caller who may set roles but not read them gets none, as in GraphQL.
    const scopes: Scope[] = ['roles:write']
    const left = await createAppRole(ctx, { name: 'left' })
    const path = `/users/${bob.id}/app-roles`
    const set = await rest('PUT', path, { appRoleIds: [left.id] }, { scopes })
    expect([set.status, set.body]).toEqual([200, { appRoles: null }])
    expect((await rest('GET', path)).body.appRoles).toMatchObject([{ name: 'left' }])
  })
})
