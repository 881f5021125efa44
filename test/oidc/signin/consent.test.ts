import { describe, expect } from 'vitest'
import { describeClaim, describeScope } from '../../../src/consents/consent-items.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { takeConsent } from '../../../src/coordination/person-budgets.ts'
import { setUserRoles } from '../../../src/users/roles.ts'
import { dbFor } from '../../support/database.ts'
import { test as base } from '../../support/fixtures.ts'
import { answerIn, signInAt } from '../../support/protocol.ts'

const test = base
  .extend('consenting', { scope: 'file' }, ({ newClient }) => newClient({ requireConsent: true }))
  /** The browser of the test's user, who is signed in at another client. */
  .extend('signedIn', async ({ person, browser, oidc }) => {
    await oidc.signIn(browser, person.email)
    return browser
  })
  .extend(
    'ask',
    ({ oidc, consenting, signedIn }) =>
      async (more: Record<string, string | null> = {}, by = consenting) => {
        const { response, path, location } = await signedIn.open(oidc.authorizePath(more, by))
        return { response, path, location, html: await response.text() }
      },
  )
  .extend(
    'askSilently',
    ({ consenting, ask }) =>
      async (scope: string, by = consenting) =>
        answerIn((await ask({ prompt: 'none', scope }, by)).location),
  )

describe('consent (OIDC Core, section 3.1.2.4)', () => {
  test('is not stored when the user has given 300 in the hour', async ({
    tenant,
    person,
    signedIn,
    ask,
    askSilently,
  }) => {
    const page = await ask({ scope: 'openid email' })
    for (let n = 0; n < 300; n++) takeConsent(tenant, person.id)
    expect((await signedIn.submit(page, { step: 'allow' })).response.status).toBe(429)
    expect(await askSilently('openid email')).toMatchObject({ error: 'consent_required' })
  })

  test('is requested once, described in words, stored and recorded as an event', async ({
    tenant,
    person,
    oidc,
    consenting,
    signedIn,
    ask,
    askSilently,
  }) => {
    expect(await askSilently('openid email')).toMatchObject({ error: 'consent_required', state: 'a-state' })
    const page = await ask({ scope: 'openid email offline_access' })
    expect(page.path).toMatch(/\/consent$/)
    for (const scope of ['openid', 'email', 'offline_access'])
      expect(page.html).toContain(describeScope(scope))
    const { location } = await signedIn.submit(page, { step: 'allow' })
    const { code = '' } = answerIn(location)
    const { body } = await oidc.exchange(code, {}, consenting)
    expect(body.scope).toBe('openid email offline_access')
    expect(body).toHaveProperty('refresh_token')
    const where = {
      tenantId_userId_clientId: { tenantId: tenant, userId: person.id, clientId: consenting.id },
    }
    const { scopes } = await dbFor(tenant).consent.findUniqueOrThrow({ where })
    expect([...scopes].sort()).toEqual(['email', 'offline_access', 'openid'])
    const events = await dbFor(tenant).event.findMany({
      where: { tenantId: tenant, userId: person.id, type: 'consent.granted' },
    })
    expect(events).toMatchObject([
      {
        subjectIds: [consenting.id],
        detail: { scope: 'openid email offline_access' },
        actorUserId: person.id,
        actorClientId: consenting.id,
      },
    ])
    expect(await askSilently('openid email')).toHaveProperty('code')
    expect(await askSilently('openid phone')).toMatchObject({ error: 'consent_required' })
  })

  test('denied redirects with access_denied and ends the interaction', async ({
    tenant,
    person,
    signedIn,
    ask,
  }) => {
    const page = await ask()
    const { location } = await signedIn.submit(page, { step: 'deny' })
    expect(answerIn(location)).toEqual({
      error: 'access_denied',
      error_description: 'The user did not consent.',
      state: 'a-state',
      iss: `http://localhost:3000/${tenant}`,
    })
    expect((await signedIn.submit(page, { step: 'allow' })).response.status).toBe(410)
    expect(await dbFor(tenant).consent.count({ where: { tenantId: tenant, userId: person.id } })).toBe(0)
  })

  test('covers only the scopes shown; a role added in between is shown again', async ({
    tenant,
    newClient,
    newPerson,
    newBrowser,
    oidc,
  }) => {
    const admin = await newPerson()
    const reading = await newClient({ requireConsent: true, scopes: ['users:read'] })
    const at = newBrowser()
    const path = oidc.authorizePath({ scope: 'openid users:read' }, reading)
    const page = await signInAt(at, path, admin.email)
    const html = await page.response.text()
    expect(html).not.toContain(describeScope('users:read'))
    await setUserRoles(createPlatformCtx(tenant), admin.id, { roles: ['auditor'] })
    expect((await at.submit({ html, path: page.path }, { step: 'allow' })).response.status).toBe(403)
    const again = await at.open(page.path)
    const shown = await again.response.text()
    expect(shown).toContain(describeScope('users:read'))
    const { location } = await at.submit({ html: shown, path: page.path }, { step: 'allow' })
    expect(answerIn(location)).toHaveProperty('code')
  })

  test('is requested again with prompt=consent, also by a client without requireConsent', async ({
    client,
    signedIn,
    ask,
    askSilently,
  }) => {
    expect(await askSilently('openid', client)).toHaveProperty('code')
    const page = await ask({ prompt: 'consent' }, client)
    expect(page.path).toMatch(/\/consent$/)
    expect(answerIn((await signedIn.submit(page, { step: 'allow' })).location)).toHaveProperty('code')
  })

  test('is not required for offline_access of a client without requireConsent (OIDC Core, section 11)', async ({
    client,
    oidc,
    askSilently,
  }) => {
    const { code = '' } = await askSilently('openid offline_access', client)
    expect((await oidc.exchange(code)).body).toHaveProperty('refresh_token')
  })

  test('is requested for scope account, also by a client without requireConsent', async ({
    newClient,
    oidc,
    signedIn,
    ask,
    askSilently,
  }) => {
    const client = await newClient({ scopes: ['account'] })
    expect(await askSilently('openid account', client)).toMatchObject({ error: 'consent_required' })
    const page = await ask({ scope: 'openid account' }, client)
    expect(page.path).toMatch(/\/consent$/)
    expect(page.html).toContain(describeScope('account'))
    const { code = '' } = answerIn((await signedIn.submit(page, { step: 'allow' })).location)
    expect((await oidc.exchange(code, {}, client)).body.scope).toBe('openid account')
    // Registering a client without requireConsent permits the other scopes.
    expect(await askSilently('openid account email', client)).toHaveProperty('code')
  })

  test('links to the account page on which the user removes the access', async ({
    tenant,
    signedIn,
    ask,
  }) => {
    const page = await ask()
    const path = /href="([^"]+)" target="_blank" rel="noopener">your account</.exec(page.html)?.[1] ?? ''
    expect(path).toBe(`/${tenant}/account/apps`)
    expect((await signedIn.fetch(path)).status).toBe(200)
  })

  test('offers to sign in as another user', async ({ signedIn, ask }) => {
    const page = await ask()
    const { response, path } = await signedIn.submit(page, { step: 'switch' })
    expect([response.status, path]).toEqual([200, page.path.replace('/consent', '')])
    expect(await response.text()).toContain('Email address')
  })

  test('is rejected when another user has signed in after the page was shown', async ({
    tenant,
    newClient,
    newPerson,
    oidc,
    signedIn,
    ask,
  }) => {
    const page = await ask()
    const { id: userId, email: other } = await newPerson()
    await oidc.signIn(signedIn, other, { prompt: 'login' }, await newClient())
    const { response } = await signedIn.submit(page, { step: 'allow' })
    expect(response.status).toBe(403)
    expect(await dbFor(tenant).consent.count({ where: { tenantId: tenant, userId } })).toBe(0)
  })

  test('is not given by a form of the email page', async ({ signedIn, ask }) => {
    const page = await ask()
    const { path } = await signedIn.submit(page, { step: 'email', address: 'x@example.com' })
    expect(path).toBe(page.path)
  })

  test('lists and stores each requested claim (OIDC Core, section 5.5)', async ({
    tenant,
    person,
    consenting,
    signedIn,
    ask,
  }) => {
    const claims = (idToken: object, userinfo: object) => JSON.stringify({ id_token: idToken, userinfo })
    const asked = {
      scope: 'openid email',
      claims: claims(
        { birthdate: null, auth_time: { essential: true } },
        { birthdate: null, email: null, address: null },
      ),
    }
    const page = await ask(asked)
    expect(page.path).toMatch(/\/consent$/)
    // What a scope covers is listed with it, and a claim of both places once.
    const listed = [...page.html.matchAll(/<li><bdi class="given">([^<]*)<\/bdi><\/li>/g)].map(
      ([, words]) => words,
    )
    expect(listed).toEqual([
      describeScope('openid'),
      describeScope('email'),
      describeClaim('birthdate'),
      describeClaim('address'),
    ])
    expect(answerIn((await signedIn.submit(page, { step: 'allow' })).location)).toHaveProperty('code')
    const where = {
      tenantId_userId_clientId: { tenantId: tenant, userId: person.id, clientId: consenting.id },
    }
    const consent = await dbFor(tenant).consent.findUniqueOrThrow({ where })
    expect([...consent.claims].sort()).toEqual(['address', 'birthdate'])
    const events = await dbFor(tenant).event.findMany({
      where: { tenantId: tenant, userId: person.id, type: 'consent.granted' },
    })
    expect(events).toMatchObject([{ detail: { scope: 'openid email', claims: 'birthdate address' } }])

    const again = async (more: Record<string, string | null>) =>
      answerIn((await ask({ prompt: 'none', scope: 'openid', ...more })).location)
    // Covered by the stored claims or by a claim of a stored scope.
    for (const given of [
      claims({ address: null }, {}),
      claims({ email_verified: null }, { birthdate: null }),
    ])
      expect(await again({ claims: given })).toHaveProperty('code')
    expect(await again({ claims: claims({}, { phone_number: null }) })).toMatchObject({
      error: 'consent_required',
    })
    // A scope is more than one claim of it.
    expect(await again({ scope: 'openid address' })).toMatchObject({ error: 'consent_required' })
  })

  test('of two requests accumulates', async ({ signedIn, ask }) => {
    for (const name of ['birthdate', 'phone_number']) {
      const page = await ask({ scope: 'openid', claims: `{"userinfo":{"${name}":null}}` })
      expect(page.html).toContain(describeClaim(name))
      await signedIn.submit(page, { step: 'allow' })
    }
    const both = '{"userinfo":{"birthdate":null},"id_token":{"phone_number":null}}'
    expect(answerIn((await ask({ prompt: 'none', scope: 'openid', claims: both })).location)).toHaveProperty(
      'code',
    )
  })

  test('is requested and stored for offline_access of a client with requireConsent (OIDC Core, section 11)', async ({
    oidc,
    consenting,
    signedIn,
    ask,
    askSilently,
  }) => {
    const page = await ask({ scope: 'openid' })
    await signedIn.submit(page, { step: 'allow' })
    expect(await askSilently('openid offline_access')).toMatchObject({ error: 'consent_required' })
    const offline = await ask({ scope: 'openid offline_access', prompt: 'consent' })
    expect(offline.html).toContain(describeScope('offline_access'))
    await signedIn.submit(offline, { step: 'allow' })
    const { code = '' } = await askSilently('openid offline_access')
    expect((await oidc.exchange(code, {}, consenting)).body).toHaveProperty('refresh_token')
    // Not requested this time.
    const { code: online = '' } = await askSilently('openid')
    expect((await oidc.exchange(online, {}, consenting)).body).not.toHaveProperty('refresh_token')
  })

  test('denied stores no claim', async ({ signedIn, ask }) => {
    const asked = { scope: 'openid', claims: '{"userinfo":{"birthdate":null}}' }
    await signedIn.submit(await ask(asked), { step: 'deny' })
    expect(answerIn((await ask({ prompt: 'none', ...asked })).location)).toMatchObject({
      error: 'consent_required',
    })
  })
})
