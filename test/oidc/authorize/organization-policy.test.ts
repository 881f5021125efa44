import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { explainSignIn } from '../../../src/oidc/explain/explain-sign-in.ts'
import { updateOrganization } from '../../../src/organizations/organizations.ts'
import { authenticateSession } from '../../../src/sessions/authenticate-session.ts'
import { sql } from '../../support/database.ts'
import { decide, pollWith, startDevice } from '../../support/device-flow.ts'
import { test as base } from '../../support/openid-client.ts'
import { leastStatements } from '../../support/statements.ts'

const SCOPE = { scope: 'openid offline_access' }
const FIRST_PAGE = /\/signin\/[\w-]+$/
const HERE = ['127.0.0.0/8', '::1']
const ELSEWHERE = ['203.0.113.0/24']

const test = base
  .extend('member', ({ newVisitor }) => newVisitor())
  .extend('native', { scope: 'file' }, ({ newClient }) => newClient({ appType: 'native' }))
  .extend('organization', async ({ create, tenant, member }) => {
    const slug = `${tenant}-${member.user.id.slice(-8)}`.slice(-60).toLowerCase()
    const created = (await create('/organizations', { slug, name: 'Acme' })) as { id: string }
    await create(`/organizations/${created.id}/members`, { userId: member.user.id })
    return created.id
  })
  .extend(
    'demand',
    ({ ctx, organization }) =>
      (policy: Record<string, unknown>) =>
        updateOrganization(ctx, organization, policy),
  )
  /** Moves the sign-in of the member into the past. */
  .extend('age', ({ tenant, member }) => async (seconds: number) => {
    for (const table of ['Session', 'Grant'])
      await sql(
        `UPDATE "${table}" SET "authenticatedAt" = now() - make_interval(secs => $3) WHERE "tenantId" = $1 AND "userId" = $2`,
        [tenant, member.user.id, seconds],
      )
    await sql(
      `UPDATE "Session" SET "proofs" = (SELECT jsonb_agg(p || jsonb_build_object('at', "authenticatedAt")) FROM jsonb_array_elements("proofs") p)
       WHERE "tenantId" = $1 AND "userId" = $2 AND "proofs" <> '[]'`,
      [tenant, member.user.id],
    )
  })
  .extend(
    'introspect',
    { scope: 'file' },
    ({ app, tenant, client }) =>
      async (token: string, ip?: string) => {
        const response = await fetch(`${app.origin}/${tenant}/oidc/introspect`, {
          method: 'POST',
          headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
          body: new URLSearchParams({ token, ...(ip && { ip }) }),
        })
        return ((await response.json()) as { active: boolean }).active
      },
  )

describe('the policy of an organization', () => {
  test('leads a member whose sign-in is too old, or has one factor, to the page that is missing', async ({
    member,
    organization,
    demand,
    age,
    oidc,
  }) => {
    const request = { ...SCOPE, organization }
    const open = async () => (await member.browser.open(oidc.authorizePath(request))).path
    await demand({ sessionLifetimeSeconds: 600 })
    const { access_token } = await member.newTokens(request)
    const { exp = 0, iat = 0 } = decodeJwt(access_token)
    expect(exp - iat).toBeLessThanOrEqual(600)
    await age(601)
    expect(await member.authorize(request)).toMatchObject({ error: 'login_required' })
    expect(await open()).toMatch(FIRST_PAGE)
    // Without the organization, the sign-in is as good as before.
    expect((await member.authorize(SCOPE)).code).toBeDefined()
    await age(0)
    await demand({ requireSecondFactor: true })
    expect(await member.authorize(request)).toMatchObject({ error: 'login_required' })
    expect(await open()).toMatch(/\/second-factor/)
  })

  test('offers the permitted methods alone, and ends where the tenant has none of them', async ({
    ctx,
    member,
    organization,
    demand,
    oidc,
    client,
  }) => {
    const request = { ...SCOPE, organization }
    await demand({ signInMethods: ['passkey'] })
    expect(await member.authorize(request)).toMatchObject({ error: 'login_required' })
    const page = await member.browser.open(oidc.authorizePath(request))
    expect(page.path).toMatch(FIRST_PAGE)
    const html = await page.response.text()
    expect(html).not.toContain('name="address"')
    expect(html).toContain('/account')
    const input = {
      userId: member.user.id,
      clientId: client.id,
      request: new URL(oidc.authorizePath(request), 'https://x.test').search,
    }
    const explained = await explainSignIn(ctx, input)
    expect(explained.succeeds).toBe(false)
    expect(explained.steps).toContainEqual(
      expect.objectContaining({
        check: 'organization-policy',
        rule: 'organizationSignInMethods',
        outcome: 'failed',
        values: [organization, 'passkey'],
      }),
    )
    await demand({
      signInMethods: [],
      requireSecondFactor: true,
      sessionLifetimeSeconds: 600,
      allowedNetworks: ELSEWHERE,
    })
    const outcomesOf = async (ip?: string) =>
      (await explainSignIn(ctx, { ...input, ip })).steps.flatMap(({ rule, outcome }) =>
        rule.startsWith('organization') ? [[rule, outcome]] : [],
      )
    expect(await outcomesOf()).toEqual([
      ['organizationRequireSecondFactor', 'asked'],
      ['organizationSessionLifetime', 'passed'],
      ['organizationAllowedNetworks', 'unknown'],
    ])
    expect(await outcomesOf('203.0.113.9')).toContainEqual(['organizationAllowedNetworks', 'passed'])
    expect(await outcomesOf('198.51.100.1')).toEqual([['organizationAllowedNetworks', 'failed']])
  })

  test('denies a person from another network, to whom other organizations stay open', async ({
    member,
    organization,
    demand,
    create,
    newClient,
  }) => {
    await demand({ allowedNetworks: ELSEWHERE })
    expect(await member.authorize({ ...SCOPE, organization })).toMatchObject({
      error: 'access_denied',
      error_description: 'The organization does not permit this network.',
    })
    const asking = await newClient({ organization: 'ask' })
    expect(await member.authorize(SCOPE, asking)).toMatchObject({ error: 'access_denied' })
    const other = (await create('/organizations', { slug: `o-${organization.slice(-20)}`, name: 'B' })) as {
      id: string
    }
    await create(`/organizations/${other.id}/members`, { userId: member.user.id })
    expect(decodeJwt((await member.newTokens(SCOPE, asking)).access_token).org_id).toBe(other.id)
    await demand({ allowedNetworks: HERE })
    expect((await member.authorize({ ...SCOPE, organization })).code).toBeDefined()
  })

  test('holds for every refresh and for codes that were issued before, and costs no statement', async ({
    member,
    organization,
    demand,
    age,
    oidc,
    introspect,
  }) => {
    const inside = await member.newTokens({ ...SCOPE, organization })
    const outside = await member.newTokens(SCOPE)
    const code = await member.newCode({ ...SCOPE, organization })
    await age(3600)
    const policies: [Record<string, unknown>, string][] = [
      [
        { sessionLifetimeSeconds: 600 },
        'The sign-in is too old for the organization. The user must sign in again.',
      ],
      [{ requireSecondFactor: true }, 'The organization requires two factors. The user must sign in again.'],
      [
        { signInMethods: ['passkey', 'provider'] },
        'The organization does not permit the method of the sign-in. The user must sign in again.',
      ],
    ]
    const none = { sessionLifetimeSeconds: null, requireSecondFactor: false, signInMethods: [] }
    for (const [policy, error_description] of policies) {
      await demand({ ...none, ...policy })
      const rejected = { status: 400, body: { error: 'invalid_grant', error_description } }
      expect(await oidc.refresh(inside.refresh_token)).toMatchObject(rejected)
      // A grant without the organization is not changed to it.
      expect(await oidc.refresh(outside.refresh_token, { organization })).toMatchObject(rejected)
      expect(await introspect(inside.access_token)).toBe(false)
      expect(await introspect(inside.refresh_token)).toBe(false)
      expect((await oidc.userinfo(inside.access_token)).status).toBe(401)
      expect(await introspect(outside.access_token)).toBe(true)
    }
    expect((await oidc.exchange(code)).body).toMatchObject({ error: 'invalid_grant' })
    // The rejected requests have not used the tokens.
    await demand({ ...none, sessionLifetimeSeconds: 7200 })
    expect((await oidc.refresh(outside.refresh_token, { organization })).status).toBe(200)
    expect(await leastStatements(() => introspect(inside.access_token))).toBe(1)
    expect(await leastStatements(() => oidc.refresh(inside.refresh_token))).toBe(1)
    expect(await leastStatements(() => member.authorize({ ...SCOPE, organization }))).toBe(1)
  })

  test('limits the networks of the device where a public client calls, and of the caller of an API', async ({
    app,
    tenant,
    member,
    organization,
    demand,
    native,
    oidc,
    introspect,
  }) => {
    const request = { ...SCOPE, organization }
    const onServer = await member.newTokens(request)
    const { body } = await startDevice(app, tenant, native, request)
    await decide(member.browser, tenant, body.user_code as string, 'allow')
    const poll = () => pollWith(app, tenant, native, body.device_code as string)
    await demand({ allowedNetworks: ELSEWHERE })
    expect((await poll()).body).toMatchObject({ error: 'invalid_grant' })
    await demand({ allowedNetworks: HERE })
    const device = (await poll()).body as Record<string, string>
    expect(decodeJwt(device.access_token as string).org_id).toBe(organization)
    await demand({ allowedNetworks: ELSEWHERE })
    expect((await oidc.refresh(device.refresh_token as string, {}, native)).body).toMatchObject({
      error: 'invalid_grant',
      error_description: 'The organization does not permit this network.',
    })
    // The address of the server says nothing about the person, and an API names that of its caller.
    expect((await oidc.refresh(onServer.refresh_token)).status).toBe(200)
    expect(await introspect(onServer.access_token)).toBe(true)
    expect(await introspect(onServer.access_token, '203.0.113.5')).toBe(true)
    expect(await introspect(onServer.access_token, '198.51.100.1')).toBe(false)
  })

  test('ends client sessions of the organization, whose user may be elsewhere', async ({
    ctx,
    member,
    organization,
    demand,
    oidc,
    client,
  }) => {
    const code = await member.newCode({ scope: 'openid session', organization })
    const sessionToken = (await oidc.exchange(code)).body.session_token as string
    const check = (ipAddress: string | null) =>
      authenticateSession(ctx, { sessionToken, clientId: client.id, metadata: { ipAddress } }).then(
        () => true,
        () => false,
      )
    await demand({ allowedNetworks: ELSEWHERE })
    expect(await check('203.0.113.5')).toBe(true)
    expect(await check('198.51.100.1')).toBe(false)
    await demand({ allowedNetworks: [], signInMethods: ['provider'] })
    expect(await check(null)).toBe(false)
  })
})
