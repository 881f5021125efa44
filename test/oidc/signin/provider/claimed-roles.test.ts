import { describe, expect } from 'vitest'
import { selectUserAccess } from '../../../../src/access/effective-access.sql.ts'
import { readMemberships } from '../../../../src/bulk/import-memberships.ts'
import type { Ctx } from '../../../../src/context/context.ts'
import type { Scope } from '../../../../src/core/scopes.ts'
import {
  createIdentityProvider,
  deleteIdentityProvider,
  getIdentityProvider,
  updateIdentityProvider,
} from '../../../../src/idps/idps.ts'
import { listMembers } from '../../../../src/organizations/memberships.ts'
import { createOrganizationDomain } from '../../../../src/organizations/organization-domains.ts'
import { createOrganization } from '../../../../src/organizations/organizations.ts'
import { createApi } from '../../../../src/permissions/apis.ts'
import { createAppRole, deleteAppRole } from '../../../../src/permissions/app-roles.ts'
import { findProvidedAppRoles } from '../../../../src/permissions/provider-roles.ts'
import { getMembershipAppRoles, setMembershipAppRoles } from '../../../../src/permissions/role-assignments.ts'
import { ctxFor, TENANT_SCOPES } from '../../../support/actors.ts'
import { dbFor } from '../../../support/database.ts'
import { test as base, readTransfer, type SignInProvider } from '../../../support/provider-sign-in.ts'
import { recordStatements } from '../../../support/statements.ts'

const API = 'urn:desk'
let count = 0

/** An organization that has proven `slug`.test. */
async function newOrganization(ctx: Ctx, slug: string) {
  const organization = await createOrganization(ctx, { slug, name: slug })
  const { id } = await createOrganizationDomain(ctx, organization.id, { domain: `${slug}.test` })
  const where = { tenantId_id: { tenantId: ctx.tenant, id } }
  await dbFor(ctx.tenant).organizationDomain.update({ where, data: { verifiedAt: new Date() } })
  return organization
}

/** `test` with an organization whose provider maps groups, a rival organization, and roles by their names. */
const test = base
  .extend('desk', { scope: 'file' }, async ({ ctx }) => {
    const api = await createApi(ctx, {
      identifier: API,
      name: 'Desk',
      permissions: [{ name: 'read' }, { name: 'pay' }],
    })
    const make = async (name: string, permission: string, more: object = { assignableTo: ['member'] }) =>
      (await createAppRole(ctx, { name, permissions: [{ apiId: api.id, name: permission }], ...more })).id
    const rival = await newOrganization(ctx, 'rival')
    const roles = {
      clerk: await make('clerk', 'read'),
      payer: await make('payer', 'pay'),
      root: await make('root', 'pay', { assignableTo: ['user'] }),
      foreign: (await createAppRole(ctx, { name: 'foreign', organizationId: rival.id })).id,
    }
    return { rival, roles }
  })
  .extend('customer', async ({ ctx, desk: { roles }, newProvider }) => {
    const organization = await newOrganization(ctx, `mapped-${++count}`)
    const claimRoles = [
      { value: 'clerks', appRoleId: roles.clerk },
      { value: 'cashiers', appRoleId: roles.payer },
      { value: 'cashiers', appRoleId: roles.clerk },
    ]
    const mapping = { organizationId: organization.id, roleClaim: 'groups', claimRoles }
    return { ...organization, claimRoles, provider: await newProvider({ entry: 'anyone', ...mapping }) }
  })
  /** Signs a subject in at the provider of an organization; returns the URL of the callback and the browser. */
  .extend(
    'signInAt',
    ({ start, newBrowser, signInThere }) =>
      async ({ slug, provider }: Customer, claims: object, subject = 'ada') => {
        provider.upstream.claims = { name: 'Ada', ...claims }
        const by = newBrowser()
        const { response } = await by.submit(await start(by), { step: 'email', address: `ada@${slug}.test` })
        return { by, callback: await signInThere(readTransfer(response), subject) }
      },
  )
  /** Comes back from there; returns the member with the names of the roles that it holds then. */
  .extend('enter', ({ ctx, signInAt, comeBack }) => async (customer: Customer, claims: object) => {
    const { by, callback } = await signInAt(customer, claims)
    const { location, html } = await comeBack(callback, by)
    expect(location ?? html).toContain('code=')
    const [member] = (await listMembers(ctx, customer.id, {})).rows
    const names = (await getMembershipAppRoles(ctx, member?.id ?? '')).map(({ name }) => name)
    return { names, membershipId: member?.id ?? '', userId: member?.userId ?? '' }
  })
type Customer = { id: string; slug: string; provider: SignInProvider }

describe('roles by a claim of the provider of an organization', () => {
  test('are in step with the claim at each sign-in, beside those that an administrator gave', async ({
    ctx,
    customer,
    desk: { roles },
    enter,
    events,
  }) => {
    const { id, provider } = customer
    const first = await enter(customer, { groups: ['cashiers', 'unmapped', 'root'] })
    expect(first.names).toEqual(['clerk', 'payer'])
    const { membershipId, userId } = first
    const readPermissions = async () => (await selectUserAccess(ctx.db, userId, [API], id)).permissions[API]
    expect(await readPermissions()).toEqual(['pay', 'read'])
    // The administrator gives by hand what the provider gave, and the role stays that of the provider.
    await setMembershipAppRoles(ctx, membershipId, { appRoleIds: [roles.clerk, roles.payer] })
    expect((await enter(customer, { groups: 'clerks' })).names).toEqual(['clerk'])
    expect(await readPermissions()).toEqual(['read'])
    await setMembershipAppRoles(ctx, membershipId, { appRoleIds: [] })
    await setMembershipAppRoles(ctx, membershipId, { appRoleIds: [roles.payer] })
    expect((await enter(customer, { groups: ['clerks', 'cashiers'] })).names).toEqual(['clerk', 'payer'])
    // An import would give those of the provider for ever.
    expect((await readMemberships(ctx.db, [userId])).get(userId)).toMatchObject([{ appRoles: ['payer'] }])
    expect((await findProvidedAppRoles(ctx.db, [membershipId]))[0]?.providedAppRoles).toEqual([
      { appRoleId: roles.clerk, idpId: provider.id, idpName: `Upstream ${provider.id}` },
    ])
    expect((await enter(customer, {})).names).toEqual(['payer'])
    const changes = await events({ type: 'membership.app_roles_changed', userId })
    expect(changes.map(({ detail, subjectIds }) => [detail, subjectIds.includes(provider.id)])).toEqual([
      [{ added: 'clerk payer', removed: '' }, true],
      [{ added: '', removed: 'payer' }, true],
      [{ added: '', removed: 'clerk' }, false],
      [{ added: 'payer', removed: '' }, false],
      [{ added: 'clerk', removed: '' }, true],
      [{ added: '', removed: 'clerk' }, true],
    ])
  })

  test('are judged value by value, within bounds, by a name with dots or by a path', async ({
    ctx,
    customer,
    enter,
    events,
  }) => {
    const { provider } = customer
    const many = Array.from({ length: 1001 }, (_, index) => (index === 1000 ? 'clerks' : `g${index}`))
    for (const [groups, names] of [
      [
        ['cashiers', 7, null, { clerks: true }, ['clerks'], 'x'.repeat(201)],
        ['clerk', 'payer'],
      ],
      [many, []],
      [{ clerks: true }, []],
      [['clerks'], ['clerk']],
      ['x'.repeat(100_000), []],
    ] as const)
      expect((await enter(customer, { groups })).names).toEqual(names)
    const { membershipId, userId } = await enter(customer, { groups: 'clerks,cashiers' })
    expect(await getMembershipAppRoles(ctx, membershipId)).toEqual([])
    const ignored = await events({ type: 'membership.role_claim_ignored', userId })
    expect(ignored.map(({ detail }) => detail)).toEqual([
      { ignored: '4 not text, 1 too long' },
      { ignored: '1 beyond 1000' },
      { ignored: '1 not text' },
      { ignored: '1 too long' },
    ])
    await updateIdentityProvider(ctx, provider.id, { roleClaim: 'realm_access.roles' })
    expect((await enter(customer, { realm_access: { roles: ['clerks'] } })).names).toEqual(['clerk'])
    expect((await enter(customer, { realm_access: ['clerks'] })).names).toEqual([])
    await updateIdentityProvider(ctx, provider.id, { roleClaim: 'https://hr.example/roles' })
    expect((await enter(customer, { 'https://hr.example/roles': ['clerks'] })).names).toEqual(['clerk'])
  })

  test('end with the mapping, the role, the organization of the provider, and the provider', async ({
    ctx,
    customer,
    desk: { rival },
    enter,
  }) => {
    const { provider, claimRoles } = customer
    const { membershipId } = await enter(customer, { groups: ['cashiers'] })
    const readNames = async () => (await getMembershipAppRoles(ctx, membershipId)).map(({ name }) => name)
    await updateIdentityProvider(ctx, provider.id, { claimRoles: claimRoles.slice(0, 1) })
    expect(await readNames()).toEqual(['clerk'])
    const role = await createAppRole(ctx, { name: `temporary-${count}`, assignableTo: ['member'] })
    const temporary = { value: 'cashiers', appRoleId: role.id }
    await updateIdentityProvider(ctx, provider.id, { claimRoles: [...claimRoles, temporary] })
    expect((await enter(customer, { groups: ['cashiers'] })).names).toEqual(['clerk', 'payer', role.name])
    await deleteAppRole(ctx, role.id)
    expect((await getIdentityProvider(ctx, provider.id)).claimRoles).toEqual(claimRoles)
    expect((await enter(customer, { groups: ['cashiers'] })).names).toEqual(['clerk', 'payer'])
    await updateIdentityProvider(ctx, provider.id, { organizationId: rival.id })
    expect(await readNames()).toEqual([])
    await updateIdentityProvider(ctx, provider.id, { organizationId: customer.id })
    await enter(customer, { groups: ['cashiers'] })
    await deleteIdentityProvider(ctx, provider.id)
    expect(await readNames()).toEqual([])
  })

  test('are mapped by those only who may give them, in the organization of the provider', async ({
    ctx,
    tenant,
    customer: { id, provider, claimRoles },
    desk: { roles, rival },
  }) => {
    const without = async (scope: Scope) => ({
      ...(await ctxFor(tenant)),
      scopes: new Set(TENANT_SCOPES.filter((each) => each !== scope)),
    })
    const weak = await without('roles:write')
    const forbidden = { code: 'FORBIDDEN' }
    const map = (claims: object) => updateIdentityProvider(weak, provider.id, claims)
    await expect(map({ claimRoles: [] })).rejects.toMatchObject(forbidden)
    await expect(map({ roleClaim: 'name' })).rejects.toMatchObject(forbidden)
    // Who says which server answers, and what it proves, gives the roles.
    await expect(map({ issuer: 'https://evil.example', clientSecret: 'x' })).rejects.toMatchObject(forbidden)
    await expect(map({ organizationId: rival.id })).rejects.toMatchObject(forbidden)
    await map({ name: 'Renamed' })
    const fresh = { id: 'mapped', type: 'google', name: 'x', organizationId: id, roleClaim: 'hd', claimRoles }
    await expect(createIdentityProvider(weak, fresh)).rejects.toMatchObject(forbidden)
    const other = [
      { value: 'a', appRoleId: roles.clerk },
      { value: 'a', appRoleId: roles.foreign },
      { value: 'a', appRoleId: 'role_01m7xeb1sbendby702xerkqv3p' },
    ]
    await expect(updateIdentityProvider(ctx, provider.id, { claimRoles: other })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      fields: [{ field: 'claimRoles.1.appRoleId' }, { field: 'claimRoles.2.appRoleId' }],
    })
    const forUsers = [{ value: 'a', appRoleId: roles.root }]
    for (const [fields, field] of [
      [{ claimRoles: forUsers }, 'claimRoles.0.appRoleId'],
      [{ organizationId: null }, 'claimRoles'],
      [{ roleClaim: null }, 'roleClaim'],
      [{ claimRoles: Array.from({ length: 101 }, () => claimRoles[0]) }, 'claimRoles'],
      [{ claimRoles: [{ value: 'x'.repeat(201), appRoleId: roles.clerk }] }, 'claimRoles.0.value'],
    ] as const)
      await expect(updateIdentityProvider(ctx, provider.id, fields)).rejects.toMatchObject({
        code: 'BAD_USER_INPUT',
        fields: [{ field }],
      })
  })

  test('are given and taken by the provider alone that the user signs in at', async ({
    ctx,
    customer,
    desk: { roles, rival },
    newProvider,
    link,
    enter,
  }) => {
    const { userId, membershipId } = await enter(customer, { groups: ['clerks'] })
    const claimRoles = [{ value: 'clerks', appRoleId: roles.payer }]
    const mapping = { organizationId: rival.id, roleClaim: 'groups', claimRoles }
    const other = { ...rival, provider: await newProvider({ entry: 'anyone', ...mapping }) }
    await link(userId, other.provider, 'ada')
    expect(await enter(other, { groups: ['clerks', 'cashiers'] })).toMatchObject({ userId, names: ['payer'] })
    await enter(other, { groups: [] })
    expect((await getMembershipAppRoles(ctx, membershipId)).map(({ name }) => name)).toEqual(['clerk'])
  })

  test('are those of the mapping as it is when the sign-in ends', async ({
    ctx,
    customer,
    signInAt,
    enter,
    comeBack,
  }) => {
    const { membershipId } = await enter(customer, {})
    const { by, callback } = await signInAt(customer, { groups: ['cashiers'] })
    await Promise.all([
      comeBack(callback, by),
      updateIdentityProvider(ctx, customer.provider.id, { claimRoles: [] }),
    ])
    expect(await getMembershipAppRoles(ctx, membershipId)).toEqual([])
  })

  test('are deleted while their mapping is edited and signs in, and leave no mapping behind', async ({
    ctx,
    customer,
    desk: { roles },
    signInAt,
    comeBack,
  }) => {
    const { provider } = customer
    for (let round = 0; round < 8; round += 1) {
      const { id } = await createAppRole(ctx, { name: `raced-${++count}`, assignableTo: ['member'] })
      const claimRoles = [roles.clerk, id].map((appRoleId) => ({ value: 'clerks', appRoleId }))
      await updateIdentityProvider(ctx, provider.id, { claimRoles })
      const { by, callback } = await signInAt(customer, { groups: ['clerks'] })
      const [deleted, edited, signedIn] = await Promise.allSettled([
        deleteAppRole(ctx, id),
        updateIdentityProvider(ctx, provider.id, { claimRoles: [...claimRoles, ...claimRoles] }),
        comeBack(callback, by),
      ])
      expect([deleted.status, signedIn.status]).toEqual(['fulfilled', 'fulfilled'])
      if (edited.status === 'rejected') expect(edited.reason).toMatchObject({ code: 'NOT_FOUND' })
      expect((await getIdentityProvider(ctx, provider.id)).claimRoles).not.toContainEqual(claimRoles[1])
    }
  })

  test('cost two statements with a mapping, and none without', async ({
    ctx,
    customer,
    enter,
    signInAt,
    comeBack,
  }) => {
    const recordRoles = async () => {
      const { by, callback } = await signInAt(customer, { groups: ['clerks'] })
      const texts = await recordStatements(() => comeBack(callback, by))
      return texts.filter((text) => /"MembershipAppRole"|JOIN "IdentityProvider"/.test(text)).length
    }
    await enter(customer, { groups: ['clerks'] })
    expect(await recordRoles()).toBe(2)
    await updateIdentityProvider(ctx, customer.provider.id, { claimRoles: [] })
    expect(await recordRoles()).toBe(0)
  })
})
