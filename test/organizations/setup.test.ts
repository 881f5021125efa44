import { describe, expect } from 'vitest'
import { addIdpUser } from '../../src/idps/idp-links.ts'
import { createIdentityProvider, updateIdentityProvider } from '../../src/idps/idps.ts'
import { createSetupLink, revokeSetupLink } from '../../src/organization-setup/setup-links.ts'
import {
  createOrganizationDomain,
  listOrganizationDomains,
} from '../../src/organizations/organization-domains.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import { newTenant } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { publishRecord } from '../support/dns-server.ts'
import { logOf } from '../support/events.ts'
import { test as base } from '../support/fixtures.ts'
import type { PageBrowser } from '../support/page-browser.ts'
import { startUpstream } from '../support/upstream.ts'

let count = 0

/** With an organization, a link for its set-up, and the visit that the link opens. */
const test = base
  .extend('organization', ({ ctx }) =>
    createOrganization(ctx, { slug: `setup-${++count}`, name: `Acme ${count}` }),
  )
  .extend('newLink', ({ ctx, organization }) => async (id = organization.id): Promise<string> => {
    const url = new URL((await createSetupLink(ctx, id)).uri)
    return url.pathname + url.search
  })
  .extend('openLink', ({ browser }) => async (path: string, by: PageBrowser = browser) => {
    const { response, path: landed } = await by.open(path)
    return { html: await response.text(), path: landed || path, response }
  })
  /** Posts a form of the page in the browser. */
  .extend(
    'submit',
    ({ browser }) =>
      async (
        page: { html: string; path: string },
        form: Record<string, string>,
        by: PageBrowser = browser,
      ) => {
        const { response, path } = await by.submit(page, form)
        return { html: await response.text(), path: path || page.path, response }
      },
  )
  .extend(
    'start',
    ({ newLink, openLink, submit }) =>
      async () =>
        submit(await openLink(await newLink()), { step: 'start' }),
  )
  .extend(
    'readDomains',
    ({ ctx }) =>
      async (id: string) =>
        (await listOrganizationDomains(ctx, id, { first: 50 })).rows,
  )

describe('the link for the set-up of an organization', () => {
  test('lets a person without an account prove a domain and configure the provider, and is in the log', async ({
    tenant,
    organization: { id, name },
    start,
    submit,
    readDomains,
  }) => {
    const domain = `${tenant}.setup.test`
    const page = await start()
    expect(page.path).toBe(`/${tenant}/organization-setup`)
    expect(page.html).toContain(name)
    expect(page.response.headers.get('referrer-policy')).toBe('no-referrer')
    const wrong = await submit(page, { step: 'add-domain', domain: 'gmail.com' })
    expect([wrong.response.status, wrong.html]).toEqual([400, expect.stringContaining('public mail host')])
    const added = await submit(page, { step: 'add-domain', domain })
    const [stored] = await readDomains(id)
    for (const part of [stored?.recordName, stored?.recordValue]) expect(added.html).toContain(part)
    const missing = await submit(added, { step: 'check-domain', id: stored?.id ?? '' })
    expect(missing.html).toContain('no TXT record')
    publishRecord(stored as never)
    expect((await submit(missing, { step: 'check-domain', id: stored?.id ?? '' })).html).toContain('Proven')

    const upstream = await startUpstream()
    const provider = { issuer: upstream.issuer, clientId: 'vestibule', clientSecret: 'a wrong secret' }
    const saved = await submit(page, { step: 'save-provider', ...provider })
    expect(saved.html).toContain(upstream.issuer)
    expect(saved.html).not.toContain(provider.clientSecret)
    const idpId = `sso-${id.slice('organization_'.length)}`
    expect(saved.html).toContain(`/oidc/callback/${idpId}`)
    const failed = await submit(saved, { step: 'test-provider' })
    expect(failed.html).toContain('The test has failed')
    await submit(failed, { step: 'save-provider', ...provider, ...upstream.client })
    // An empty secret keeps the stored one.
    await submit(failed, { step: 'save-provider', ...provider, clientSecret: '' })
    expect((await submit(failed, { step: 'test-provider' })).html).toContain('The test has passed')
    upstream.close()
    const rows = (await logOf(tenant)).filter(
      ({ actorClientId, organizationId }) => actorClientId === 'organization-setup' && organizationId === id,
    )
    expect(new Set(rows.map(({ type }) => type))).toEqual(
      new Set([
        'organization.setup_opened',
        'organization_domain.created',
        'organization_domain.verified',
        'idp.created',
        'idp.updated',
        'idp.tested',
      ]),
    )
    expect(JSON.stringify(await logOf(tenant))).not.toContain(provider.clientSecret)
  })

  test('opens once, in one browser, within its time, in its tenant, and until it is replaced or revoked', async ({
    tenant,
    ctx,
    organization,
    browser,
    newBrowser,
    newLink,
    openLink,
    submit,
    start,
  }) => {
    const link = await newLink()
    const [page, thief] = [await openLink(link), newBrowser()]
    const stolen = await openLink(link, thief)
    const [one, two] = await Promise.all([
      submit(page, { step: 'start' }),
      submit(stolen, { step: 'start' }, thief),
    ])
    expect([one, two].map(({ response }) => response.status).sort()).toEqual([200, 410])
    expect((await openLink(link, newBrowser())).response.status).toBe(410)
    // The visit is in a cookie of the browser alone, and other sites cannot post its forms.
    const path = `/${tenant}/organization-setup`
    expect((await openLink(path, newBrowser())).response.status).toBe(410)
    const current = await start()
    expect((await openLink(`${path}?token=${'x'.repeat(43)}`)).path).toBe(path)
    expect((await browser.post(path, { step: 'add-domain', domain: 'forged.test' })).status).toBe(403)
    expect((await browser.post(`/${await newTenant()}/organization-setup`, {})).status).toBe(410)
    // The next link ends the visit of the former one; a revocation, and the time, end what is left.
    const next = await newLink()
    expect((await submit(current, { step: 'add-domain', domain: 'late.test' })).response.status).toBe(410)
    await revokeSetupLink(ctx, organization.id)
    expect((await openLink(next, newBrowser())).response.status).toBe(410)
    const last = await newLink()
    const before = await openLink(last)
    const expire = () =>
      dbFor(tenant).organizationSetup.updateMany({
        where: { tenantId: tenant, organizationId: organization.id },
        data: { expiresAt: new Date() },
      })
    await expire()
    expect((await submit(before, { step: 'start' })).response.status).toBe(410)
    await start()
    await expire()
    expect((await openLink(path)).response.status).toBe(410)
    const rows = await dbFor(tenant).organizationSetup.findMany({ where: { tenantId: tenant } })
    expect(JSON.stringify(rows)).not.toContain(new URLSearchParams(last.split('?')[1]).get('token'))
  })

  test('reaches no other organization, no operation, and no account with roles', async ({
    tenant,
    ctx,
    organization,
    app,
    browser,
    person,
    start,
    submit,
    readDomains,
  }) => {
    const other = await createOrganization(ctx, { slug: `other-${++count}`, name: 'Other' })
    const foreign = await createOrganizationDomain(ctx, other.id, { domain: `${tenant}.other.test` })
    await createIdentityProvider(ctx, { id: 'other-sso', type: 'oidc', name: 'O', organizationId: other.id })
    const page = await start()
    expect((await submit(page, { step: 'check-domain', id: foreign.id })).html).toContain('no longer there')
    const more = {
      organizationId: other.id,
      id: 'other-sso',
      entry: 'anyone',
      trustAcr: '{}',
      keepTokens: 'true',
    }
    await submit(page, {
      step: 'add-domain',
      domain: `${tenant}.mine.test`,
      ...more,
      enrollment: 'automatic',
    })
    await submit(page, { step: 'save-provider', issuer: 'https://login.setup.test', clientId: 'x', ...more })
    expect((await readDomains(other.id)).map(({ id }) => id)).toEqual([foreign.id])
    expect(await readDomains(organization.id)).toMatchObject([{ enrollment: 'none' }])
    const idps = await dbFor(tenant).identityProvider.findMany({
      where: { tenantId: tenant, organizationId: { in: [other.id, organization.id] } },
      select: { id: true, organizationId: true, issuer: true, keepTokens: true },
      orderBy: { organizationId: 'asc' },
    })
    expect(idps.find(({ id }) => id === 'other-sso')).toMatchObject({
      organizationId: other.id,
      issuer: null,
    })
    const own = idps.find(({ organizationId }) => organizationId === organization.id)
    expect(own).toMatchObject({ issuer: 'https://login.setup.test', keepTokens: false })
    // Neither the cookie nor its value is a token of the API.
    const [, token = ''] = [...browser.cookies].find(([name]) => name.startsWith('vst_os_')) ?? []
    expect((await app.rest(tenant, token, 'GET', '/organizations')).status).toBe(401)
    expect((await browser.fetch(`/${tenant}/api/v1/organizations`)).status).toBe(401)
    // A provider with a mapping gives roles, which a set-up link may not.
    const change = { issuer: 'https://evil.test', clientId: 'x' }
    const role = await createAppRole(ctx, { name: 'clerk', assignableTo: ['member'] })
    const claimRoles = [{ value: 'clerks', appRoleId: role.id }]
    await updateIdentityProvider(ctx, own?.id ?? '', { roleClaim: 'groups', claimRoles })
    expect((await submit(page, { step: 'save-provider', ...change })).response.status).toBe(403)
    await updateIdentityProvider(ctx, own?.id ?? '', { claimRoles: [] })
    // Who controls the provider controls the accounts that are linked to it.
    await addIdpUser(ctx, person.id, own?.id ?? '', { externalId: 'ada' })
    await dbFor(tenant).user.updateMany({
      where: { tenantId: tenant, id: person.id },
      data: { roles: ['admin'] },
    })
    const taken = await submit(page, { step: 'save-provider', ...change })
    expect(taken.response.status).toBe(403)
  })
})
