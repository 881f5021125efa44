import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createRegistrationToken } from '../../src/registration/registration-tokens.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { newTenant } from '../support/actors.ts'
import { optionsAt, startRequest } from '../support/openid-client.ts'
import { authorizePath, REDIRECT_URI, signInAt } from '../support/protocol.ts'
import { test as base, newOpenTenant as newTokenTenant, WEB } from '../support/registration.ts'

/** `test` with a tenant at which anyone may register a client. */
const test = base
  .extend('tenant', { scope: 'file' }, async ({ app: _app }) => {
    const slug = await newTenant()
    await updateSettings(createPlatformCtx(slug), { openRegistration: true })
    return slug
  })
  .extend(
    'registerOpenly',
    { scope: 'file' },
    ({ callEndpoint }) =>
      (metadata: object = {}) =>
        callEndpoint('POST', '', null, { ...WEB, ...metadata }),
  )

describe('open registration (RFC 7591, section 3)', () => {
  test('registers a client without a token, which asks for consent as an unreviewed one', async ({
    app,
    issuer,
    person,
    browser,
    tenant,
    listClients,
  }) => {
    const config = await openid.dynamicClientRegistration(
      new URL(issuer),
      { redirect_uris: [REDIRECT_URI], client_name: 'Newcomer', token_endpoint_auth_method: 'none' },
      openid.None(),
      optionsAt(app),
    )
    const { checks, path } = await startRequest(config, { scope: 'openid email users:read account' })
    const asked = await signInAt(browser, path, person.email)
    const html = await asked.response.text()
    expect(html).toContain('It registered itself and has not been reviewed.')
    expect(html).toContain(`You continue at another site: <strong><bdi class="given">rp.example.com`)
    const { location } = await browser.submit({ html, path: asked.path }, { step: 'allow' })
    const tokens = await openid.authorizationCodeGrant(config, new URL(location as string), checks)
    expect(tokens.scope).toBe('openid email')
    expect(await listClients(tenant)).toContainEqual(
      expect.objectContaining({
        id: config.clientMetadata().client_id,
        registeredBy: 'open-registration',
        requireConsent: true,
        scopes: [],
      }),
    )
  })

  test('is advertised, and manages the client with its registration access token (RFC 7592)', async ({
    app,
    tenant,
    issuer,
    registerOpenly,
    callEndpoint,
    events,
  }) => {
    const metadata = await (await app.fetch(`/${tenant}/.well-known/openid-configuration`)).json()
    expect(metadata.registration_endpoint).toBe(`${issuer}/oidc/register`)
    const { status, body } = await registerOpenly({ logo_uri: 'https://rp.example.com/logo.png' })
    expect(status).toBe(201)
    expect(body).not.toHaveProperty('logo_uri')
    const { client_id: id, registration_access_token: token } = body
    const replacement = { ...WEB, client_id: id, client_name: 'Renamed', logo_uri: 'https://a.example/l.png' }
    const replaced = await callEndpoint('PUT', `/${id}`, token, replacement)
    expect(replaced.body).toMatchObject({ client_name: 'Renamed' })
    expect(replaced.body).not.toHaveProperty('logo_uri')
    expect((await callEndpoint('DELETE', `/${id}`, token)).status).toBe(204)
    expect((await events({ subjectId: id })).map(({ type, detail }) => [type, detail?.by])).toEqual([
      ['client.created', 'open-registration'],
      ['client.updated', 'open-registration'],
      ['client.deleted', 'open-registration'],
    ])
  })

  test('redirects to the client only after a page (decision 54)', async ({ app, tenant, registerOpenly }) => {
    const { body } = await registerOpenly()
    const path = authorizePath(tenant, { id: body.client_id }, { prompt: 'none' })
    const { status, headers } = await app.fetch(path)
    expect([status, headers.get('location')]).toEqual([400, null])
  })

  test('is off by default: a tenant with tokens answers 401, and one without registration 404', async ({
    callEndpoint,
  }) => {
    const { status, body } = await callEndpoint('POST', '', null, WEB, await newTokenTenant())
    expect([status, body.error]).toEqual([401, 'invalid_token'])
    expect((await callEndpoint('POST', '', null, WEB, await newTenant())).status).toBe(404)
  })

  test('does not bring back tokens from before registration with a token was switched off', async ({
    callEndpoint,
  }) => {
    const slug = await newTokenTenant()
    const ctx = createPlatformCtx(slug)
    const { token } = await createRegistrationToken(ctx, { uses: null })
    await updateSettings(ctx, { dynamicRegistration: false, openRegistration: true })
    expect((await callEndpoint('POST', '', token, WEB, slug)).status).toBe(401)
    await updateSettings(ctx, { dynamicRegistration: true })
    expect((await callEndpoint('POST', '', token, WEB, slug)).status).toBe(201)
  })

  test('rejects a wrong token instead of ignoring it', async ({ callEndpoint }) => {
    expect((await callEndpoint('POST', '', 'x'.repeat(43), WEB)).status).toBe(401)
  })
})
