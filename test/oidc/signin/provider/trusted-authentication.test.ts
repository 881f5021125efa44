import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../../src/context/context.ts'
import { AMR_BY_TRUSTED_ACR } from '../../../../src/idps/entry-policy.fields.ts'
import { updateIdentityProvider } from '../../../../src/idps/idps.ts'
import { buildAuthorizationUrl } from '../../../../src/idps/provider/provider-authorization.ts'
import { findProviderRow } from '../../../../src/idps/sign-in-providers.ts'
import { computeAcr } from '../../../../src/sessions/acr.ts'
import { updateSettings } from '../../../../src/tenants/settings.ts'
import { answerIn } from '../../../support/protocol.ts'
import { test as base, type SignInProvider } from '../../../support/provider-sign-in.ts'
import { enrollTotp } from '../../../support/totp.ts'

const TRUST = {
  trustAcr: { gold: 'phr', silver: 'urn:vestibule:mfa', bronze: 'urn:vestibule:otp' },
  trustAmr: ['mfa', 'hwk'],
}
const requireAcr = (...values: string[]) => ({
  claims: JSON.stringify({ id_token: { acr: { essential: true, values } } }),
})

const test = base
  /** A provider whose `acr` and `amr` are trusted, and one whose are not. */
  .extend('trusted', { scope: 'file' }, ({ newProvider }) => newProvider(TRUST))
  /** Signs `person` in at a provider that says how; returns the claims of our ID token. */
  .extend(
    'signInAs',
    ({ person, subject, newBrowser, oidc, link, signInBy }) =>
      async (provider: SignInProvider, claims: object, more: object = {}) => {
        await link(person.id, provider, subject)
        provider.upstream.claims = claims as Record<string, unknown>
        const { location, html } = await signInBy(provider.id, subject, newBrowser(), more)
        provider.upstream.claims = null
        if (!location) return { html }
        const { body } = await oidc.exchange(answerIn(location).code ?? '')
        return decodeJwt(String(body.id_token))
      },
  )

describe('the acr and amr of an identity provider', () => {
  test.for([
    [{ acr: 'gold' }, 'phr', ['fed', 'pop']],
    [{ acr: 'silver' }, 'urn:vestibule:mfa', ['fed', 'mfa']],
    [{ acr: 'bronze' }, 'urn:vestibule:otp', ['fed', 'otp']],
    [{ amr: ['pwd', 'mfa'] }, 'urn:vestibule:mfa', ['fed', 'mfa']],
    [{ acr: 'bronze', amr: ['hwk', 'pwd'] }, 'phr', ['fed', 'hwk', 'otp']],
    [{ acrs: ['c9', 'silver'] }, 'urn:vestibule:mfa', ['fed', 'mfa']],
  ] as [object, string, string[]][])(
    '%j are taken over where they are trusted',
    async ([claims, acr, amr], { trusted, signInAs }) => {
      expect(await signInAs(trusted, claims)).toMatchObject({ acr, amr })
    },
  )

  test.for([
    { acr: 'phr' },
    { acr: 'urn:vestibule:mfa', amr: ['pop', 'otp', 'swk', 'fed'] },
    { acr: 'Gold', amr: 'mfa ' },
    { acr: 'constructor', amr: ['__proto__'] },
    { acr: { gold: 1 }, amr: { mfa: true } },
  ])('%j are not taken over where they are not trusted', async (claims, { trusted, signInAs }) => {
    expect(await signInAs(trusted, claims)).toMatchObject({ acr: 'urn:vestibule:federated', amr: ['fed'] })
  })

  test('are not taken over from a provider without that policy, or from the userinfo endpoint', async ({
    person,
    subject,
    provider,
    trusted,
    signInAs,
  }) => {
    const claims = { acr: 'gold', amr: ['mfa', 'hwk'] }
    const plain = { acr: 'urn:vestibule:federated', amr: ['fed'] }
    expect(await signInAs(provider, claims)).toMatchObject(plain)
    trusted.upstream.before.set('/me', (_request, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ sub: subject, ...claims }))
      return true
    })
    expect(await signInAs(trusted, { name: person.email })).toMatchObject(plain)
    trusted.upstream.before.clear()
  })

  test('are requested by acr_values, and lead there where the client demands them', async ({
    ctx,
    app,
    tenant,
    provider,
    trusted,
    browser,
    oidc,
    start,
    choose,
    signInAs,
  }) => {
    await updateSettings(ctx, { signInMethods: ['provider'], secondFactor: 'off' })
    const metadata = await (await app.fetch(`/${tenant}/.well-known/openid-configuration`)).json()
    expect(metadata.acr_values_supported).toContain('phr')
    // The only provider that leads to phr is opened at once.
    const led = await browser.open(oidc.authorizePath(requireAcr('phr')))
    const request = new URL(led.location as string)
    expect(request.href).toContain(trusted.upstream.issuer)
    expect(request.searchParams.get('acr_values')).toBe('gold')
    await updateSettings(ctx, { signInMethods: null, secondFactor: null })
    const first = await start(browser, { prompt: 'login', acr_values: 'urn:vestibule:mfa' })
    expect((await choose(first, trusted.id)).searchParams.get('acr_values')).toBe('gold silver')
    expect((await choose(first, provider.id)).searchParams.get('acr_values')).toBeNull()
    expect(await signInAs(trusted, { acr: 'gold' }, requireAcr('phr'))).toMatchObject({ acr: 'phr' })
  })

  test('lead to a page that says what to do where they are weaker than the client demands', async ({
    person,
    subject,
    trusted,
    newBrowser,
    link,
    start,
    choose,
    signInBy,
  }) => {
    await link(person.id, trusted, subject)
    trusted.upstream.claims = { acr: 'bronze' }
    const [browser, fresh] = [newBrowser(), newBrowser()]
    const weak = await signInBy(trusted.id, subject, browser, requireAcr('phr'))
    trusted.upstream.claims = null
    expect(weak.location).toBeNull()
    expect(weak.html).toContain('needs a more secure sign-in than the one you used')
    expect(weak.path).not.toContain('/second-factor')
    // The provider would return its session again.
    const again = await choose(weak, trusted.id, browser)
    expect(again.searchParams.get('prompt')).toBe('login')
    const other = await choose(await start(fresh, requireAcr('phr')), trusted.id, fresh)
    expect(other.searchParams.get('prompt')).toBeNull()
  })

  test('lead to no such page where a second factor completes them', async ({
    ctx,
    person,
    subject,
    provider,
    browser,
    link,
    signInBy,
  }) => {
    await enrollTotp(ctx, person.id)
    await link(person.id, provider, subject)
    const page = await signInBy(provider.id, subject, browser, requireAcr('urn:vestibule:mfa'))
    expect(page.path).toContain('/second-factor')
    expect(page.html).not.toContain('more secure sign-in')
  })

  test.for([
    [['hwk'], true],
    [['mfa'], true],
    [['pwd'], false],
  ] as [string[], boolean][])(
    'of %j count as two factors at the account API as they do at the sign-in: %s',
    async ([amr, counts], { ctx, person, subject, trusted, browser, link, signInBy, signIn, gql }) => {
      await link(person.id, trusted, subject)
      trusted.upstream.claims = { amr }
      const { location } = await signInBy(trusted.id, subject, browser)
      trusted.upstream.claims = null
      expect(location).toContain('code=')
      const { token } = await signIn(person.email, { browser, scope: 'openid account' })
      await updateSettings(ctx, { secondFactor: 'required' })
      const mutation =
        'mutation { createViewerTotp(input: {}) { __typename ... on StepUpRequiredError { acrValues } } }'
      const { body } = await gql(mutation, {}, { token })
      await updateSettings(ctx, { secondFactor: null })
      expect(body.data.createViewerTotp).toEqual(
        counts
          ? { __typename: 'CreateViewerTotpPayload' }
          : { __typename: 'StepUpRequiredError', acrValues: 'urn:vestibule:mfa' },
      )
    },
  )

  test('end with the policy: a later sign-in does not have them', async ({ ctx, trusted, signInAs }) => {
    expect(await signInAs(trusted, { acr: 'gold' })).toMatchObject({ acr: 'phr' })
    await updateIdentityProvider(ctx, trusted.id, { trustAcr: null, trustAmr: null })
    expect(await signInAs(trusted, { acr: 'gold', amr: ['mfa'] })).toMatchObject({ amr: ['fed'] })
    await updateIdentityProvider(ctx, trusted.id, TRUST)
  })

  test.for([
    [{ trustAcr: { gold: 'strong' } }, ['trustAcr.gold']],
    [{ trustAcr: { 'a b': 'phr' } }, ['trustAcr.a b']],
    [{ trustAcr: [], trustAmr: 'mfa' }, ['trustAcr', 'trustAmr']],
    [{ trustAmr: ['a b'] }, ['trustAmr.0']],
  ] as [object, string[]][])(
    'with the policy %j are rejected by its fields',
    async ([policy, fields], { ctx, trusted }) => {
      const error = await updateIdentityProvider(ctx, trusted.id, policy).catch((each) => each)
      expect(error.fields.map(({ field }: { field: string }) => field)).toEqual(fields)
    },
  )

  test('cannot be trusted of a provider that issues no ID tokens, or of any organization', async ({
    rest,
  }) => {
    for (const type of ['oauth2', 'microsoft']) {
      const { status, body } = await rest('POST', '/idps', {
        id: `trust-${type}`,
        type,
        name: 'X',
        trustAmr: ['mfa'],
      })
      expect([status, body.fields?.map(({ field }: { field: string }) => field)]).toEqual([400, ['trustAmr']])
    }
  })

  test('are requested of Microsoft by the claim acrs', async ({ tenant, trusted }) => {
    const row = await findProviderRow(createPlatformCtx(tenant).db, trusted.id)
    if (!row) throw new Error('no row')
    const microsoft = { ...row, type: 'microsoft', authorizationEndpoint: 'https://login.example/authorize' }
    const values = { state: 's', nonce: 'n', codeChallenge: 'c' }
    const url = new URL(
      await buildAuthorizationUrl(microsoft, values, {
        prompt: null,
        loginHint: null,
        acrValues: ['c1', 'c2'],
      }),
    )
    expect(JSON.parse(url.searchParams.get('claims') ?? '')).toEqual({
      id_token: { acrs: { essential: true, value: 'c1' } },
    })
  })

  test.for(Object.entries(AMR_BY_TRUSTED_ACR))(
    'of level %s are recorded as a method of that level',
    ([acr, amr]) => {
      expect(computeAcr(['fed', amr])).toBe(acr)
    },
  )
})
