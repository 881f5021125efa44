import { describe, expect } from 'vitest'
import { joinByDomain } from '../../src/organizations/domain-joins.ts'
import { createMembership } from '../../src/organizations/memberships.ts'
import {
  createOrganizationDomain,
  verifyOrganizationDomain,
} from '../../src/organizations/organization-domains.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { createManagementRole } from '../../src/users/management-roles.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { getUser } from '../../src/users/users.ts'
import { publishRecord } from '../support/dns-server.ts'
import { test as base, PATCH } from '../support/scim.ts'

let count = 0
/** An organization with a proven domain, and a SCIM client with its key. */
const test = base.extend('newCustomer', ({ ctx, scim }) => async () => {
  count += 1
  const { id } = await createOrganization(ctx, { slug: `customer-${count}`, name: 'Acme' })
  const domain = `scim-${count}.test`
  const added = await createOrganizationDomain(ctx, id, { domain, enrollment: 'automatic' })
  publishRecord(added)
  await verifyOrganizationDomain(ctx, added.id)
  return { id, domain, ...(await scim({ organizationId: id })) }
})

const setActive = (active: boolean) => ({
  schemas: [PATCH],
  Operations: [{ op: 'replace', value: { active } }],
})

describe('the key of an organization', () => {
  test('makes accounts for addresses of proven domains alone, and ends and restores the membership', async ({
    ctx,
    newCustomer,
    rest,
  }) => {
    const { id: organizationId, domain, key, call } = await newCustomer()
    const userName = `ada@${domain}`
    const created = await call('POST', '/Users', {
      userName,
      externalId: '00u1',
      name: { givenName: 'Ada', familyName: 'Lovelace' },
    })
    expect(created).toMatchObject({ status: 201, body: { active: true, displayName: 'Ada Lovelace' } })
    const { id } = created.body
    const where = { tenantId: ctx.tenant, organizationId, userId: id }
    expect(await ctx.db.prisma.membership.findFirst({ where })).toMatchObject({ joinedVia: 'scim' })
    const group = await call('POST', '/Groups', { displayName: 'Staff', members: [{ value: id }] })
    expect(group.status).toBe(201)
    for (const address of ['eve@elsewhere.test', 'no address'])
      expect((await call('POST', '/Users', { userName: address })).body).toMatchObject({
        scimType: 'invalidValue',
      })

    expect((await call('PATCH', `/Users/${id}`, setActive(false))).body.active).toBe(false)
    expect(await ctx.db.prisma.membership.count({ where })).toBe(0)
    // Neither locked elsewhere, nor a member again by the next proof of the address.
    expect(await getUser(ctx, id)).toMatchObject({ locked: false })
    await ctx.db.transaction((tx) => joinByDomain(tx, ctx, { userId: id, emailKey: userName }))
    expect(await ctx.db.prisma.membership.count({ where })).toBe(0)
    // What the person does with the account from then on is hidden.
    const inactive = await call('GET', `/Users?filter=userName eq "${userName}"`)
    expect(inactive.body.Resources).toMatchObject([{ id, active: false, externalId: '00u1' }])
    expect(inactive.body.Resources[0]).not.toHaveProperty('displayName')
    expect((await call('PATCH', `/Users/${id}`, setActive(true))).body).toMatchObject({
      active: true,
      displayName: 'Ada Lovelace',
    })
    expect((await call('DELETE', `/Users/${id}`)).status).toBe(204)
    expect((await call('GET', `/Users/${id}`)).status).toBe(404)
    expect(await getUser(ctx, id)).toMatchObject({ email: userName })

    const other = { token: key }
    expect((await rest('GET', '/users', undefined, other)).status).toBe(401)
  })

  test('takes over neither an account with rights elsewhere nor one whose address is not proven', async ({
    ctx,
    newCustomer,
    newPerson,
    email,
  }) => {
    const { id: organizationId, domain, call } = await newCustomer()
    const squatter = await newPerson({ email: `squatter@${domain}`, emailVerified: false })
    expect((await call('POST', '/Users', { userName: squatter.email })).body).toMatchObject({
      status: '409',
      detail: expect.stringContaining('has not proven'),
    })
    // An account with a proven address of the domain becomes a member.
    const own = await newPerson({ email: `grace@${domain}` })
    expect(await call('POST', '/Users', { userName: own.email })).toMatchObject({
      status: 201,
      body: { id: own.id },
    })
    const rename = (address: string) => ({
      schemas: [PATCH],
      Operations: [{ op: 'replace', path: 'emails[type eq "work"].value', value: address }],
    })
    expect((await call('PATCH', `/Users/${own.id}`, rename(email('taken')))).body).toMatchObject({
      scimType: 'invalidValue',
    })
    expect((await call('PATCH', `/Users/${own.id}`, rename(`hopper@${domain}`))).body).toMatchObject({
      emails: [{ value: `hopper@${domain}` }],
    })
    // Its scopes are those that such a call has.
    await createManagementRole(ctx, { name: 'desk', scopes: ['roles:write'] })
    await setUserRoles(ctx, own.id, { roles: ['desk'] })
    expect((await call('PATCH', `/Users/${own.id}`, rename(`desk@${domain}`))).status).toBe(403)
    await setUserRoles(ctx, own.id, { roles: [] })
    const { id: elsewhere } = await createOrganization(ctx, { slug: `elsewhere-${count}`, name: 'Other' })
    await createMembership(ctx, elsewhere, { userId: own.id })
    expect((await call('PATCH', `/Users/${own.id}`, rename(`third@${domain}`))).status).toBe(403)
    // Of a member with an address of another domain, the account stays as it is.
    const guest = await newPerson({ name: 'Guest' })
    await createMembership(ctx, organizationId, { userId: guest.id })
    const put = await call('PUT', `/Users/${guest.id}`, {
      userName: guest.email,
      externalId: 'x',
      displayName: 'Renamed',
      emails: [{ value: `guest@${domain}` }],
      active: true,
    })
    expect(put.body).toMatchObject({
      externalId: 'x',
      displayName: 'Guest',
      emails: [{ value: guest.email }],
    })
  })

  test('reaches neither another organization nor the rest of the tenant', async ({
    ctx,
    newCustomer,
    newPerson,
    scim,
  }) => {
    const [mine, theirs] = [await newCustomer(), await newCustomer()]
    const stranger = await newPerson()
    const { body: member } = await theirs.call('POST', '/Users', {
      userName: `member@${theirs.domain}`,
      externalId: 'same',
    })
    const { body: group } = await theirs.call('POST', '/Groups', { displayName: 'Staff', externalId: 'same' })
    const tenant = await scim()
    const { body: ofTenant } = await tenant.call('POST', '/Groups', {
      displayName: 'Staff',
      externalId: 'same',
    })
    const { body: own } = await mine.call('POST', '/Users', {
      userName: `member@${mine.domain}`,
      externalId: 'same',
    })
    for (const [kind, id] of [
      ['Users', member.id],
      ['Users', stranger.id],
      ['Groups', group.id],
      ['Groups', ofTenant.id],
    ])
      for (const [method, body] of [
        ['GET'],
        ['PUT', { userName: `taken@${mine.domain}`, displayName: 'Taken' }],
        ['PATCH', setActive(false)],
        ['DELETE'],
      ] as const)
        expect((await mine.call(method, `/${kind}/${id}`, body)).status, `${method} ${kind}`).toBe(404)
    for (const filter of [
      `id eq "${member.id}"`,
      `userName eq "${stranger.email}"`,
      'externalId eq "same"',
      'userName pr',
      `not (id eq "${own.id}") or id eq "${stranger.id}"`,
    ]) {
      const { body } = await mine.call('GET', `/Users?filter=${encodeURIComponent(filter)}`)
      expect(
        body.Resources.filter(({ id }: { id: string }) => id !== own.id),
        filter,
      ).toEqual([])
    }
    expect((await mine.call('GET', '/Groups')).body).toMatchObject({ totalResults: 0 })
    const added = await mine.call('POST', '/Groups', {
      displayName: 'Mine',
      members: [{ value: stranger.id }],
    })
    expect(added.body).toMatchObject({
      scimType: 'invalidValue',
      detail: expect.stringContaining(stranger.id),
    })
    expect((await mine.call('GET', '/Groups')).body).toMatchObject({ totalResults: 0 })
    const elsewhere = await fetch(new URL(member.meta.location.replace(ctx.tenant, 'system')), {
      headers: { authorization: `Bearer ${theirs.key}` },
    }).catch(() => null)
    expect(elsewhere?.status ?? 401).toBe(401)
  })
})
