import { describe, expect } from 'vitest'
import {
  deleteIdentityProvider,
  getIdentityProvider,
  updateIdentityProvider,
} from '../../../../src/idps/idps.ts'
import { listMembers } from '../../../../src/organizations/memberships.ts'
import {
  createOrganizationDomain,
  updateOrganizationDomain,
  verifyOrganizationDomain,
} from '../../../../src/organizations/organization-domains.ts'
import { createOrganization, deleteOrganization } from '../../../../src/organizations/organizations.ts'
import { ctxFor, TENANT_SCOPES } from '../../../support/actors.ts'
import { dbFor } from '../../../support/database.ts'
import { publishRecord } from '../../../support/dns-server.ts'
import { logOf } from '../../../support/events.ts'
import { test as base, readTransfer } from '../../../support/provider-sign-in.ts'

let count = 0
const test = base
  .extend('domain', () => `customer-${++count}.test`)
  /** An organization that has proven the domain and has a provider, which anybody may enter by. */
  .extend('customer', async ({ ctx, domain, newProvider }) => {
    const organization = await createOrganization(ctx, { slug: `customer-${count}`, name: 'Customer' })
    const added = await createOrganizationDomain(ctx, organization.id, { domain })
    publishRecord(added)
    await verifyOrganizationDomain(ctx, added.id)
    const fields = { organizationId: organization.id, entry: 'anyone', trustEmail: true }
    return { ...organization, added, provider: await newProvider(fields) }
  })
  .extend(
    'listVias',
    ({ ctx }) =>
      async (organizationId: string) =>
        (await listMembers(ctx, organizationId, {})).rows.map(({ joinedVia }) => joinedVia),
  )
  /** Enters an address on the first page and signs in where the browser is led. */
  .extend(
    'enter',
    ({ newBrowser, start, signInThere, comeBack }) =>
      async (address: string, subject: string) => {
        const by = newBrowser()
        const { response, path } = await by.submit(await start(by), { step: 'email', address })
        if (path?.endsWith('/code')) return path
        const { location, html } = await comeBack(await signInThere(readTransfer(response), subject), by)
        return location ?? html
      },
  )

describe('the provider of an organization', () => {
  test('is led to by an address of a proven domain, makes members once, and is not on the first page', async ({
    customer: { id, provider },
    domain,
    start,
    enter,
    listVias,
  }) => {
    expect((await start()).html).not.toContain(provider.id)
    provider.upstream.claims = { email: `ada@${domain}`, email_verified: true }
    for (const _ of [1, 2]) expect(await enter(`ada@${domain.toUpperCase()}`, 'ada')).toContain('code=')
    expect(await listVias(id)).toEqual(['provider'])
  })

  test('rejects an address of a foreign domain, verified or not, of a new or a linked user', async ({
    ctx,
    customer: { id, provider, added },
    domain,
    newPerson,
    link,
    enter,
    listVias,
    events,
  }) => {
    const victim = await newPerson()
    await link((await newPerson()).id, provider, 'linked')
    for (const [subject, email] of [
      ['mallory', victim.email],
      ['mallory', `m@sub.${domain}`],
      ['linked', victim.email],
      ['mallory', 'not an address'],
    ] as const)
      for (const verified of [true, false]) {
        provider.upstream.claims = { email, email_verified: verified }
        expect(await enter(`x@${domain}`, subject)).not.toContain('code=')
      }
    expect(await listVias(id)).toEqual([])
    expect(await events({ type: 'signin.failed' })).toContainEqual(
      expect.objectContaining({ detail: expect.objectContaining({ cause: 'foreign domain' }) }),
    )
    // Nor does it serve a domain that is not proven any more, or that it does not name.
    await updateIdentityProvider(ctx, provider.id, { domains: ['other.test'] })
    expect(await enter(`x@${domain}`, 'linked')).toMatch(/code$/)
    await updateIdentityProvider(ctx, provider.id, { domains: [] })
    const where = { tenantId_id: { tenantId: ctx.tenant, id: added.id } }
    await dbFor(ctx.tenant).organizationDomain.update({ where, data: { verifiedAt: null } })
    expect(await enter(`x@${domain}`, 'linked')).toMatch(/code$/)
  })

  test('ends with the organization, and is given by those only who may change both', async ({
    ctx,
    tenant,
    customer: { id, provider },
  }) => {
    const without = async (scope: string) => ({
      ...(await ctxFor(tenant)),
      scopes: new Set(TENANT_SCOPES.filter((each) => each !== scope)),
    })
    await expect(
      updateIdentityProvider(await without('organizations:write'), provider.id, {
        organizationId: null,
      }).then(async () =>
        updateIdentityProvider(await without('organizations:write'), provider.id, { organizationId: id }),
      ),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(
      updateIdentityProvider(ctx, provider.id, { organizationId: 'organization_01m7xeb1sbendby702xerkqv3p' }),
    ).rejects.toMatchObject({ fields: [{ field: 'organizationId' }] })
    await updateIdentityProvider(ctx, provider.id, { organizationId: id })
    await expect(deleteOrganization(await without('idps:write'), id)).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    await deleteOrganization(ctx, id)
    await expect(getIdentityProvider(ctx, provider.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await logOf(tenant)).filter(({ type }) => type === 'idp.deleted')).toMatchObject([
      { subjectIds: [provider.id] },
    ])
  })
})

describe('a provider of the tenant', () => {
  test('lets users join by the address that it asserts now, where the domain enrolls', async ({
    ctx,
    customer: { id, added, provider },
    domain,
    newProvider,
    signInBy,
    newBrowser,
    listVias,
  }) => {
    await deleteIdentityProvider(ctx, provider.id)
    await updateOrganizationDomain(ctx, added.id, { enrollment: 'automatic' })
    const open = await newProvider({ entry: 'anyone', trustEmail: true })
    open.upstream.claims = { email: `ada@${domain}`, email_verified: false }
    expect((await signInBy(open.id, 'unverified', newBrowser())).location).toContain('code=')
    expect(await listVias(id)).toEqual([])
    open.upstream.claims = { email: `ada@${domain}`, email_verified: true }
    expect((await signInBy(open.id, 'verified', newBrowser())).location).toContain('code=')
    expect(await listVias(id)).toEqual(['domain'])
  })
})
