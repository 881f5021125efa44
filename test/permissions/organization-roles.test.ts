import { describe, expect } from 'vitest'
import { selectUserAccess } from '../../src/access/effective-access.sql.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { toAppError } from '../../src/core/to-app-error.ts'
import { createMembership } from '../../src/organizations/memberships.ts'
import { createOrganization, deleteOrganization } from '../../src/organizations/organizations.ts'
import { createApi, updateApi } from '../../src/permissions/apis.ts'
import { createAppRole, getAppRole, updateAppRole } from '../../src/permissions/app-roles.ts'
import { createGroup } from '../../src/permissions/groups.ts'
import {
  setClientAppRoles,
  setGroupAppRoles,
  setMembershipAppRoles,
  setUserAppRoles,
} from '../../src/permissions/role-assignments.ts'
import { createUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { makeClient } from '../support/protocol.ts'
import { test as base } from '../support/tenant-per-test.ts'

const SHOP = 'urn:shop'
const fail = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (thrown: unknown) => {
      const { code, fields } = toAppError(thrown)
      return { code, fields }
    },
  )

/** `test` with an API, one of whose permissions organizations may use, two organizations, and a member of both. */
const test = base.extend('world', async ({ tenant }) => {
  const ctx = createPlatformCtx(tenant)
  const toPermissions = (mayRead: boolean) => [
    { name: 'read', isAllowedInOrganizations: mayRead },
    { name: 'write' },
  ]
  const api = await createApi(ctx, { identifier: SHOP, name: 'Shop', permissions: toPermissions(true) })
  const acme = await createOrganization(ctx, { name: 'Acme', slug: 'acme' })
  const bolt = await createOrganization(ctx, { name: 'Bolt', slug: 'bolt' })
  const user = await createUser(ctx, { name: 'Ada' })
  const [inAcme, inBolt] = [
    await createMembership(ctx, acme.id, { userId: user.id }),
    await createMembership(ctx, bolt.id, { userId: user.id }),
  ]
  const permit = (...names: string[]) => names.map((name) => ({ apiId: api.id, name }))
  const own = await createAppRole(ctx, {
    name: 'reader',
    organizationId: acme.id,
    permissions: permit('read'),
  })
  const accessIn = (id: string | null) => selectUserAccess(ctx.db, user.id, [SHOP], id)
  return { ctx, api, toPermissions, acme, bolt, user, inAcme, inBolt, permit, own, accessIn }
})

describe('a role of an organization', () => {
  test('is held by its members and groups alone, and valid there alone, beside the roles of the tenant', async ({
    world: { ctx, acme, bolt, user, inAcme, inBolt, own, accessIn },
  }) => {
    const appRoleIds = [own.id]
    const unknown = {
      code: 'NOT_FOUND',
      fields: [{ field: 'appRoleIds.0', description: 'is not a role of this tenant' }],
    }
    const { id: clientId } = await makeClient(ctx.tenant, { appType: 'machine', callbacks: [] })
    const [staff, foreign, desk] = [
      await createGroup(ctx, { name: 'Staff' }),
      await createGroup(ctx, { name: 'Desk', organizationId: bolt.id }),
      await createGroup(ctx, { name: 'Desk', organizationId: acme.id }),
    ]
    for (const [set, id] of [
      [setMembershipAppRoles, inBolt.id],
      [setGroupAppRoles, foreign.id],
      [setGroupAppRoles, staff.id],
      [setUserAppRoles, user.id],
      [setClientAppRoles, clientId],
    ] as const)
      expect(await fail(set(ctx, id, { appRoleIds }))).toEqual(unknown)
    await setGroupAppRoles(ctx, desk.id, { appRoleIds })
    await setMembershipAppRoles(ctx, inAcme.id, { appRoleIds })
    expect(await accessIn(acme.id)).toEqual({
      roles: [],
      organizationRoles: ['reader'],
      permissions: { [SHOP]: ['read'] },
    })
    for (const elsewhere of [bolt.id, null])
      expect(await accessIn(elsewhere)).toEqual({ roles: [], organizationRoles: [], permissions: {} })
  })

  test('has only permissions that organizations may use, and loses one that they no longer may', async ({
    events,
    world: { ctx, api, toPermissions, acme, inAcme, permit, own, accessIn },
  }) => {
    const refused = {
      code: 'NOT_FOUND',
      fields: [
        { field: 'permissions.1', description: 'is not a permission that roles of organizations may have' },
      ],
    }
    const permissions = permit('read', 'write')
    expect(await fail(updateAppRole(ctx, own.id, { permissions }))).toEqual(refused)
    expect(await fail(createAppRole(ctx, { name: 'writer', organizationId: acme.id, permissions }))).toEqual(
      refused,
    )
    expect(
      await fail(createAppRole(ctx, { name: 'all', organizationId: acme.id, assignableTo: ['user'] })),
    ).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ field: 'assignableTo' }] })
    const ofTenant = await createAppRole(ctx, { name: 'clerk', permissions })
    await setMembershipAppRoles(ctx, inAcme.id, { appRoleIds: [own.id] })
    // Either the role is created before and loses it, or it is refused.
    const [, late] = await Promise.all([
      updateApi(ctx, api.id, { permissions: toPermissions(false) }),
      createAppRole(ctx, { name: 'late', organizationId: acme.id, permissions: permit('read') }).catch(
        () => null,
      ),
    ])
    expect((await accessIn(acme.id)).permissions).toEqual({})
    if (late) expect((await getAppRole(ctx, late.id)).permissions).toEqual([])
    expect((await getAppRole(ctx, ofTenant.id)).permissions).toEqual(permissions)
    const [{ detail, appRoleIds }] = (await events({ type: 'api.updated' })) as never as [
      { detail: object; appRoleIds?: string[] },
    ]
    expect(detail).toMatchObject({ added: 0, removed: 0, roles: late ? 2 : 1 })
    expect(appRoleIds ?? [own.id]).toContain(own.id)
  })

  test('has a name of its own, also when roles are named at the same time', async ({
    world: { ctx, acme, bolt, own },
  }) => {
    const taken = (description: string) => ({ code: 'CONFLICT', fields: [{ field: 'name', description }] })
    expect(await fail(createAppRole(ctx, { name: 'reader', organizationId: acme.id }))).toEqual(
      taken('is taken'),
    )
    await createAppRole(ctx, { name: 'reader', organizationId: bolt.id })
    expect(await fail(createAppRole(ctx, { name: 'reader' }))).toMatchObject(
      taken(expect.stringMatching(/^is taken by a role of organization_/) as never),
    )
    const clerk = await createAppRole(ctx, { name: 'clerk' })
    const byTenant = taken('is taken by a role of the tenant')
    expect(await fail(createAppRole(ctx, { name: 'clerk', organizationId: acme.id }))).toEqual(byTenant)
    expect(await fail(updateAppRole(ctx, own.id, { name: 'clerk' }))).toEqual(byTenant)
    const raced = await Promise.all([
      fail(updateAppRole(ctx, clerk.id, { name: 'manager' })),
      fail(updateAppRole(ctx, own.id, { name: 'manager' })),
    ])
    expect(raced.filter((result) => result !== 'done')).toHaveLength(1)
  })

  test('is one of a hundred, which leave the roles of the tenant and of others their limits', async ({
    world: { ctx, acme, bolt },
  }) => {
    await dbFor(ctx.tenant).appRole.createMany({
      data: Array.from({ length: 98 }, (_, index) => ({
        ...{ tenantId: ctx.tenant, id: `role_${index}`, name: `role-${index}` },
        ...{ organizationId: acme.id, assignableTo: ['member'] },
      })),
    })
    const late = await Promise.all(
      ['a', 'b'].map((name) => fail(createAppRole(ctx, { name, organizationId: acme.id }))),
    )
    expect(late.sort()).toMatchObject([{ code: 'CONFLICT' }, 'done'])
    await createAppRole(ctx, { name: 'c', organizationId: bolt.id })
    await createAppRole(ctx, { name: 'd' })
  })

  test('is listed with its organization, recorded in its log, and ends with it', async ({
    rest,
    gql,
    events,
    world: { ctx, acme, bolt, own, inAcme },
  }) => {
    const template = await createAppRole(ctx, { name: 'template', assignableTo: ['member'] })
    await setMembershipAppRoles(ctx, inAcme.id, { appRoleIds: [own.id, template.id] })
    const namesAt = async (path: string) =>
      (await rest('GET', path)).body.appRoles.map(({ name }: { name: string }) => name)
    expect(await namesAt(`/organizations/${acme.id}/app-roles`)).toEqual(['reader', 'template'])
    expect(await namesAt(`/organizations/${bolt.id}/app-roles`)).toEqual(['template'])
    expect(await namesAt('/app-roles?owner=tenant')).toEqual(['template'])
    expect(await namesAt('/app-roles?owner=organization')).toEqual(['reader'])
    expect(await namesAt(`/app-roles?organizationId=${acme.id}`)).toEqual(['reader'])
    const read = await gql(`{ organization(id: "${acme.id}") { permittedApis(first: 5) { totalSize nodes {
      identifier permissions { name } } } } }`)
    expect(read.body.data.organization.permittedApis).toEqual({
      totalSize: 1,
      nodes: [{ identifier: SHOP, permissions: [{ name: 'read' }] }],
    })
    expect(await events({ subjectId: own.id, type: 'app_role.created' })).toMatchObject([
      { organizationId: acme.id },
    ])
    const path = `/app-roles/${own.id}`
    expect((await rest('PATCH', path, { organizationId: bolt.id })).body.fields).toEqual([
      { field: 'organizationId', description: 'cannot be changed' },
    ])
    const foreign = createPlatformCtx(await newTenant())
    expect(await fail(createAppRole(foreign, { name: 'thief', organizationId: acme.id }))).toMatchObject({
      code: 'NOT_FOUND',
    })
    await deleteOrganization(ctx, acme.id)
    expect((await rest('GET', path)).status).toBe(404)
    expect((await rest('GET', `/app-roles/${template.id}`)).status).toBe(200)
  })
})
