import { describe, expect } from 'vitest'
import { findTenant } from '../../src/access/tenant-cache.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { createTenant } from '../../src/invitations/create-tenant.ts'
import { takeMail } from '../../src/invitations/invitations.ts'
import { listPublicKeys } from '../../src/keys/keys.ts'
import { CONSOLE_CLIENT_ID } from '../../src/model/console-client.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { withIssues } from '../support/clients.ts'
import { dbFor, sql } from '../support/database.ts'
import { PageBrowser } from '../support/page-browser.ts'
import { newSlug, test, UNSET_SETTINGS } from '../support/tenants.ts'

describe('createTenant', () => {
  test('stores settings, a signing key and a sealed token key of its own, and records the event in the logs of both tenants', async ({
    events,
    system,
  }) => {
    const slug = newSlug()
    const tenant = await createTenant(system, {
      slug,
      settings: { friendlyName: 'Acme', logoUrl: null },
    })
    expect(tenant).toEqual({
      ...UNSET_SETTINGS,
      tenantId: slug,
      friendlyName: 'Acme',
      createdAt: expect.any(Date),
      updatedAt: expect.any(Date),
    })
    const other = await newTenant()
    const [keys, otherKeys] = [await listPublicKeys(slug), await listPublicKeys(other)]
    expect(keys.keys).toHaveLength(1)
    expect(keys.keys[0]).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })
    expect(keys.keys[0]?.kid).not.toBe(otherKeys.keys[0]?.kid)
    const [found, otherFound] = [await findTenant(slug), await findTenant(other)]
    expect(found?.tokenKey).toHaveLength(32)
    expect(found?.tokenKey.equals(otherFound?.tokenKey ?? Buffer.alloc(0))).toBe(false)
    const [stored] = await sql<{ tokenKey: string }>(
      'SELECT "tokenKey" FROM "Tenant" WHERE "tenantId" = $1',
      [slug],
    )
    expect(stored?.tokenKey).not.toContain(found?.tokenKey.toString('base64url'))
    const created = { type: 'tenant.created', subjectIds: [slug] }
    expect(await events({ tenant: slug })).toEqual([expect.objectContaining(created)])
    expect(await events({ tenant: SYSTEM_TENANT, subjectId: slug })).toContainEqual(
      expect.objectContaining(created),
    )
  })

  test.for<[slug: unknown, description: string]>([
    ['', 'must be lower-case'],
    ['Acme', 'must be lower-case'],
    ['acme-', 'must be lower-case'],
    ['a--b', 'must be lower-case'],
    ['a.b', 'must be lower-case'],
    ['a\n', 'must be lower-case'],
    ['ä', 'must be lower-case'],
    ['a'.repeat(64), 'must have at most 63'],
    ['health', 'is reserved'],
    ['metrics', 'is reserved'],
    ['assets', 'is reserved'],
    ['dev', 'is reserved'],
    [undefined, 'is required'],
    [7, 'must be a string'],
  ])('rejects the slug %j', async ([slug, description], { system }) => {
    await expect(createTenant(system, { slug })).rejects.toThrow(
      withIssues([{ field: 'slug', description: expect.stringContaining(description) }]),
    )
  })

  test('reports every invalid field at once', async ({ system }) => {
    const settings = {
      friendlyName: 7,
      logoUrl: 'javascript:alert(1)',
      loginUrl: 'http://example.com',
      tokenKey: 'x',
    }
    await expect(createTenant(system, { slug: 'A', settings })).rejects.toThrow(
      withIssues([
        { field: 'slug', description: 'must be lower-case letters, digits and single hyphens between them' },
        { field: 'settings.friendlyName', description: 'must be a string' },
        { field: 'settings.logoUrl', description: 'must be an http or https URL' },
        { field: 'settings.loginUrl', description: 'must be an https URL (http on this machine only)' },
        { field: 'settings.tokenKey', description: 'is not a field of this request' },
      ]),
    )
    expect(await findTenant('A')).toBeNull()
  })

  test('succeeds for one of 20 concurrent callers with the same slug', async ({ events, system }) => {
    const slug = newSlug()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => createTenant(system, { slug })),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({
          code: 'CONFLICT',
          fields: [{ field: 'slug', description: 'is taken' }],
        })
    expect(await dbFor(slug).signingKey.count({ where: { tenantId: slug } })).toBe(1)
    expect(await events({ tenant: slug })).toHaveLength(1)
  })

  test('rejects callers that are not operators of tenant system acting on tenant system', async ({
    tenant,
    ctx,
    events,
  }) => {
    const slug = newSlug()
    await expect(createTenant(ctx, { slug })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(
      createTenant({ ...ctx, scopes: new Set(['tenants:write']) }, { slug }),
    ).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    const operator = await ctxFor(SYSTEM_TENANT, ['tenants:write'])
    await expect(createTenant({ ...operator, tenant }, { slug })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    await expect(createTenant({ ...operator, scopes: new Set() }, { slug })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'This needs the scope tenants:write.',
    })
    await expect(
      createTenant({ ...operator, tenant: SYSTEM_TENANT, actor: { kind: 'anonymous' } }, { slug }),
    ).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    expect(await findTenant(slug)).toBeNull()
    await createTenant(operator, { slug })
    expect(await events({ tenant: slug })).toEqual([
      expect.objectContaining({ actorTenantId: 'system', requestId: operator.requestId }),
    ])
  })
})

describe('createTenant with an administrator', () => {
  test('invites the person as administrator of the new tenant, in its log too', async ({
    app,
    events,
    inbox,
  }) => {
    const operator = await ctxFor(SYSTEM_TENANT, ['tenants:write'])
    const slug = newSlug()
    const email = `grace@${slug}.example`
    await createTenant(operator, {
      slug,
      settings: { friendlyName: 'Acme', invitationLifetimeSeconds: 3600 },
      administrator: { email, name: 'Grace' },
    })
    const where = { tenantId: slug }
    const [invitation, ...others] = await dbFor(slug).invitation.findMany({ where })
    expect(others).toEqual([])
    expect(invitation).toMatchObject({ email, name: 'Grace', roles: ['admin'], acceptedAt: null })
    expect((invitation?.expiresAt.getTime() ?? 0) - (invitation?.sentAt.getTime() ?? 0)).toBe(3_600_000)
    const [mail, ...more] = await inbox.list(email)
    expect(more).toEqual([])
    expect(mail).toMatchObject({
      subject: 'You are invited to Acme',
      body: expect.stringContaining(`/${slug}/invitation?token=`),
    })
    expect((await events({ tenant: slug })).map(({ type, actorTenantId }) => [type, actorTenantId])).toEqual([
      ['tenant.created', SYSTEM_TENANT],
      ['invitation.created', SYSTEM_TENANT],
      ['client.created', null],
    ])
    expect(await dbFor(slug).user.count({ where })).toBe(0)
    // Once the account is made, the person continues to the console.
    await updateSettings(createPlatformCtx(slug), { offerPasskey: false, signInMethods: ['passcode'] })
    const { pathname, search } = new URL(/http\S+token=\S+/.exec(mail?.body ?? '')?.[0] ?? '')
    const browser = new PageBrowser(app.origin)
    const path = pathname + search
    const html = await (await browser.open(path)).response.text()
    const accepted = await browser.submit({ html, path }, { name: 'Grace' })
    const start = `/${slug}/oidc/initiate?client_id=${CONSOLE_CLIENT_ID}`
    expect(await accepted.response.text()).toContain(start)
    expect((await browser.open(start)).location).toContain(`/${slug}/console?`)
    expect(await dbFor(slug).user.findMany({ where })).toMatchObject([{ email, roles: ['admin'] }])
  })

  test('sends nothing for a taken slug, or for input that is not valid', async ({ system, inbox }) => {
    const slug = await newTenant()
    const email = `eve@${slug}.example`
    await expect(createTenant(system, { slug, administrator: { email } })).rejects.toMatchObject({
      code: 'CONFLICT',
    })
    for (const [administrator, field] of [
      [{}, 'administrator.email'],
      [{ email: 'nobody' }, 'administrator.email'],
      [{ email, roles: ['operator'] }, 'administrator.roles'],
      ['eve', 'administrator'],
    ] as const)
      await expect(createTenant(system, { slug: newSlug(), administrator })).rejects.toMatchObject({
        fields: [expect.objectContaining({ field })],
      })
    expect(await inbox.list(email)).toEqual([])
    expect(await dbFor(slug).invitation.count({ where: { tenantId: slug } })).toBe(0)
  })

  test('sends ten mails to an address in an hour, over all new tenants', async ({ system }) => {
    const administrator = { email: `flood@${newSlug()}.example` }
    await createTenant(system, { slug: newSlug(), administrator })
    for (let count = 1; count < 10; count += 1) takeMail(system, administrator.email)
    const slug = newSlug()
    await expect(createTenant(system, { slug, administrator })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
    })
    expect(await findTenant(slug)).toBeNull()
  })
})
