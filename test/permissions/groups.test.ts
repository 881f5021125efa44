import { describe, expect } from 'vitest'
import { selectUserAccess } from '../../src/access/effective-access.sql.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createMembership, deleteMembership } from '../../src/organizations/memberships.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { createApi } from '../../src/permissions/apis.ts'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import { addGroupMembers, createGroup, updateGroup } from '../../src/permissions/groups.ts'
import {
  setGroupAppRoles,
  setMembershipAppRoles,
  setUserAppRoles,
} from '../../src/permissions/role-assignments.ts'
import { createUser } from '../../src/users/users.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { test as base } from '../support/tenant-per-test.ts'

const SHOP = 'urn:shop'

/** `test` with an API, the organizations Acme and Bolt, a member of Acme, and roles for everybody. */
const test = base.extend('world', async ({ tenant }) => {
  const ctx = createPlatformCtx(tenant)
  const names = ['read', 'write', 'delete']
  const api = await createApi(ctx, {
    identifier: SHOP,
    name: 'Shop',
    permissions: names.map((name) => ({ name })),
  })
  const [read, write, remove] = await Promise.all(
    names.map((name) =>
      createAppRole(ctx, {
        name: `may-${name}`,
        assignableTo: ['user', 'member'],
        permissions: [{ apiId: api.id, name }],
      }),
    ),
  )
  if (!read || !write || !remove) throw new Error('a role is missing')
  const acme = await createOrganization(ctx, { name: 'Acme', slug: 'acme' })
  const bolt = await createOrganization(ctx, { name: 'Bolt', slug: 'bolt' })
  const user = await createUser(ctx, { name: 'Ada' })
  const membership = await createMembership(ctx, acme.id, { userId: user.id })
  const permissionsIn = async (organizationId: string | null) =>
    (await selectUserAccess(ctx.db, user.id, [SHOP], organizationId)).permissions[SHOP] ?? []
  return { ctx, read, write, remove, acme, bolt, user, membership, permissionsIn }
})

describe('a group', () => {
  test('is created, read, changed and deleted over REST', async ({ rest, events, world: { user } }) => {
    const { body } = await rest('POST', '/groups', { name: 'Desk' })
    expect(body).toMatchObject({ name: 'Desk', description: null, organizationId: null, parentId: null })
    const path = `/groups/${body.id}`
    expect((await rest('PATCH', path, body)).body).toEqual(body)
    expect((await rest('POST', '/groups', { name: 'Desk' })).body.fields).toEqual([
      { field: 'name', description: 'is taken' },
    ])
    const inner = await rest('POST', '/groups', { name: 'Inner', parentId: body.id })
    expect((await rest('DELETE', path)).body.message).toBe('Groups are nested in this one.')
    expect((await rest('DELETE', `/groups/${inner.body.id}`)).status).toBe(200)
    await rest('POST', `${path}/members`, { userIds: [user.id, user.id] })
    expect((await rest('GET', `${path}/members`)).body).toMatchObject({
      totalSize: 1,
      users: [{ name: 'Ada' }],
    })
    await rest('POST', `${path}/members/delete`, { userIds: [user.id] })
    expect((await rest('GET', `${path}/members`)).body.totalSize).toBe(0)
    expect((await rest('DELETE', path)).status).toBe(200)
    expect((await events({ subjectId: body.id })).map(({ type }) => type)).toEqual([
      'group.created',
      'group.members_added',
      'group.members_removed',
      'group.deleted',
    ])
  })

  test('gives its roles and those of the groups around it to its members', async ({ world }) => {
    const { ctx, read, write, remove, user, permissionsIn } = world
    const outer = await createGroup(ctx, { name: 'Outer' })
    const middle = await createGroup(ctx, { name: 'Middle', parentId: outer.id })
    const inner = await createGroup(ctx, { name: 'Inner', parentId: middle.id })
    await setGroupAppRoles(ctx, outer.id, { appRoleIds: [read.id] })
    await setGroupAppRoles(ctx, inner.id, { appRoleIds: [write.id] })
    await addGroupMembers(ctx, middle.id, { userIds: [user.id] })
    expect(await permissionsIn(null)).toEqual(['read'])
    await addGroupMembers(ctx, inner.id, { userIds: [user.id] })
    expect(await permissionsIn(null)).toEqual(['read', 'write'])
    await setGroupAppRoles(ctx, middle.id, { appRoleIds: [remove.id] })
    expect(await permissionsIn(null)).toEqual(['delete', 'read', 'write'])
  })

  test('is listed by owner, organization and parent, and among the holders of its role', async ({
    app,
    gql,
    rest,
    world: { ctx, read, acme, membership, user },
  }) => {
    const outer = await createGroup(ctx, { name: 'Outer' })
    const inner = await createGroup(ctx, { name: 'Inner', parentId: outer.id })
    const ofAcme = await createGroup(ctx, { name: 'Desk', organizationId: acme.id })
    const list = async (filter: string) =>
      (await rest('GET', `/groups?${filter}`)).body.groups.map(({ id }: { id: string }) => id)
    expect(await list('owner=tenant')).toEqual([outer.id, inner.id])
    expect(await list('owner=organization')).toEqual([ofAcme.id])
    expect(await list(`organizationId=${acme.id}`)).toEqual([ofAcme.id])
    expect(await list(`parentId=${outer.id}`)).toEqual([inner.id])
    await setGroupAppRoles(ctx, ofAcme.id, { appRoleIds: [read.id] })
    await setMembershipAppRoles(ctx, membership.id, { appRoleIds: [read.id] })
    await setUserAppRoles(ctx, user.id, { appRoleIds: [read.id] })
    const { body } = await gql(`{ appRole(id: "${read.id}") { holders(first: 10) {
      totalSize nodes { holderId group { name parent { id } organization { slug } } user { name } client { id } organization { slug } }
    } } }`)
    const slug = { slug: 'acme' }
    expect(body.data.appRole.holders).toEqual({
      totalSize: 3,
      nodes: [
        {
          holderId: ofAcme.id,
          group: { name: 'Desk', parent: null, organization: slug },
          user: null,
          client: null,
          organization: slug,
        },
        { holderId: membership.id, group: null, user: { name: 'Ada' }, client: null, organization: slug },
        { holderId: user.id, group: null, user: { name: 'Ada' }, client: null, organization: null },
      ],
    })
    // Who may read roles alone gets no names of people and organizations.
    const token = await tokenFor(ctx.tenant, ['roles:read'])
    const names = await app.gql(
      ctx.tenant,
      token,
      `{ appRole(id: "${read.id}") { holders(first: 10) { nodes { user { name } organization { slug } } } } }`,
    )
    expect(names.body.data.appRole.holders.nodes).toEqual(
      Array.from({ length: 3 }, () => ({ user: null, organization: null })),
    )
    const page = `/app-roles/${read.id}/holders?pageSize=2&page=1`
    expect((await rest('GET', page)).body.holders).toMatchObject([{ holderId: user.id }])
    expect((await rest('GET', '/app-roles/role_01k7r3m8wxe4gbr5v2c9t6hznq/holders')).status).toBe(404)
  })

  test('is nested three deep at most, and never in itself', async ({ world: { ctx } }) => {
    const [a, b, c, d] = await Promise.all(['a', 'b', 'c', 'd'].map((name) => createGroup(ctx, { name })))
    const nest = (group: { id: string } | undefined, parent: { id: string } | undefined) =>
      updateGroup(ctx, group?.id ?? '', { parentId: parent?.id ?? null }).catch(({ fields }) => fields)
    await nest(b, a)
    await nest(c, b)
    expect(await nest(d, c)).toEqual([
      { field: 'parentId', description: 'would nest groups more than 3 deep' },
    ])
    expect(await nest(a, d)).toEqual([
      { field: 'parentId', description: 'would nest groups more than 3 deep' },
    ])
    for (const parent of [a, b, c])
      expect(await nest(a, parent)).toEqual([
        { field: 'parentId', description: 'is the group itself, or nested in it' },
      ])
  })

  test('makes no cycle with another one that is nested at the same time', async ({ world: { ctx } }) => {
    for (let round = 0; round < 5; round++) {
      const [one, other] = [
        await createGroup(ctx, { name: `one ${round}` }),
        await createGroup(ctx, { name: `other ${round}` }),
      ]
      const results = await Promise.allSettled([
        updateGroup(ctx, one.id, { parentId: other.id }),
        updateGroup(ctx, other.id, { parentId: one.id }),
      ])
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    }
  })
})

describe('roles in an organization', () => {
  test('are valid there alone, and end with the membership', async ({ world }) => {
    const { ctx, read, write, acme, bolt, user, membership, permissionsIn } = world
    await setMembershipAppRoles(ctx, membership.id, { appRoleIds: [read.id] })
    const group = await createGroup(ctx, { name: 'Desk', organizationId: acme.id })
    await setGroupAppRoles(ctx, group.id, { appRoleIds: [write.id] })
    await addGroupMembers(ctx, group.id, { userIds: [user.id] })
    expect(await permissionsIn(acme.id)).toEqual(['read', 'write'])
    expect(await permissionsIn(bolt.id)).toEqual([])
    expect(await permissionsIn(null)).toEqual([])
    expect(await selectUserAccess(ctx.db, user.id, [SHOP], acme.id)).toMatchObject({
      roles: ['may-read', 'may-write'],
      organizationRoles: ['may-read', 'may-write'],
    })
    await deleteMembership(ctx, membership.id)
    expect(await permissionsIn(acme.id)).toEqual([])
    await createMembership(ctx, acme.id, { userId: user.id })
    expect(await permissionsIn(acme.id)).toEqual([])
  })

  test('are not reached by groups of the tenant, of another organization or of another tenant', async ({
    world: { ctx, acme, bolt, user },
  }) => {
    const desk = await createGroup(ctx, { name: 'Desk', organizationId: acme.id })
    const foreign = await createGroup(createPlatformCtx(await newTenant()), { name: 'Desk' })
    const others = [
      await createGroup(ctx, { name: 'Desk' }),
      await createGroup(ctx, { name: 'Desk', organizationId: bolt.id }),
    ]
    for (const other of others)
      for (const [group, parent] of [
        [desk, other],
        [other, desk],
      ])
        await expect(updateGroup(ctx, group?.id ?? '', { parentId: parent?.id })).rejects.toMatchObject({
          fields: [{ field: 'parentId', description: 'is a group of the tenant or of another organization' }],
        })
    await expect(updateGroup(ctx, desk.id, { parentId: foreign.id })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    // Ada does not belong to Bolt.
    await expect(addGroupMembers(ctx, others[1]?.id ?? '', { userIds: [user.id] })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      fields: [{ field: 'userIds.0', description: 'is not a member of the organization' }],
    })
    await expect(addGroupMembers(ctx, foreign.id, { userIds: [user.id] })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  test('are not for users of the whole tenant', async ({ world: { ctx, acme, membership } }) => {
    const role = await createAppRole(ctx, { name: 'tenant-wide' })
    const desk = await createGroup(ctx, { name: 'Desk', organizationId: acme.id })
    for (const set of [
      () => setMembershipAppRoles(ctx, membership.id, { appRoleIds: [role.id] }),
      () => setGroupAppRoles(ctx, desk.id, { appRoleIds: [role.id] }),
    ])
      await expect(set()).rejects.toMatchObject({
        fields: [{ field: 'appRoleIds.0', description: 'is not a role for a member' }],
      })
  })
})
