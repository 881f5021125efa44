import { decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose'
import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import {
  createRegistrationToken,
  revokeRegistrationToken,
} from '../../src/registration/registration-tokens.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { newTenant } from '../support/actors.ts'
import { optionsAt, startRequest } from '../support/openid-client.ts'
import { csrfIn } from '../support/page-browser.ts'
import { basic, REDIRECT_URI, signInAt } from '../support/protocol.ts'
import { newOpenTenant, test, WEB } from '../support/registration.ts'

describe('a relying party that registers itself', () => {
  test.for<[method: string, more: object, authentication?: openid.ClientAuth]>([
    ['client_secret_basic', {}],
    ['client_secret_post', { token_endpoint_auth_method: 'client_secret_post' }],
    ['none', { token_endpoint_auth_method: 'none' }, openid.None()],
  ])(
    'signs a user in with %s',
    async ([_method, more, authentication], { app, person, browser, issuer, newRegistrationToken }) => {
      const config = await openid.dynamicClientRegistration(
        new URL(issuer),
        { redirect_uris: [REDIRECT_URI], client_name: 'Newcomer', ...more },
        authentication,
        { initialAccessToken: await newRegistrationToken(), ...optionsAt(app) },
      )
      const { checks, path } = await startRequest(config, { scope: 'openid email users:read' })
      const asked = await signInAt(browser, path, person.email)
      const html = await asked.response.text()
      expect(html).toContain('Allow')
      expect(html).toContain('Newcomer')
      const { location } = await browser.submit({ html, path: asked.path }, { step: 'allow' })
      expect(csrfIn(html)).toBeTruthy()
      const tokens = await openid.authorizationCodeGrant(config, new URL(location as string), checks)
      expect(tokens.claims()).toMatchObject({ sub: person.id, aud: config.clientMetadata().client_id })
      expect(decodeProtectedHeader(tokens.id_token ?? '').alg).toBe('RS256')
      expect(tokens.scope).toBe('openid email')
      expect(await openid.fetchUserInfo(config, tokens.access_token, person.id)).toMatchObject({
        email: person.email,
      })
    },
  )
})

describe('the registration endpoint (RFC 7591, section 3)', () => {
  test('answers 404 and is not advertised while the tenant has it turned off', async ({
    app,
    tenant,
    issuer,
    newRegistrationToken,
    callEndpoint,
    register,
  }) => {
    const closed = await newTenant()
    const metadata = async (of: string) =>
      await (await app.fetch(`/${of}/.well-known/openid-configuration`)).json()
    expect(await metadata(closed)).not.toHaveProperty('registration_endpoint')
    expect((await metadata(tenant)).registration_endpoint).toBe(`${issuer}/oidc/register`)
    expect((await callEndpoint('POST', '', await newRegistrationToken({}, closed), WEB, closed)).status).toBe(
      404,
    )
    const registered = await newOpenTenant()
    const { body } = await register(WEB, registered)
    await updateSettings(createPlatformCtx(registered), { dynamicRegistration: false })
    await expect
      .poll(
        async () =>
          (
            await callEndpoint(
              'GET',
              `/${body.client_id}`,
              body.registration_access_token as string,
              undefined,
              registered,
            )
          ).status,
      )
      .toBe(404)
  })

  test('rejects tokens that are no initial access token, used up, revoked, expired or of another tenant', async ({
    tenant,
    issuer,
    newRegistrationToken,
    callEndpoint,
    listClients,
    token,
  }) => {
    const other = await newOpenTenant()
    const spent = await newRegistrationToken({})
    expect((await callEndpoint('POST', '', spent, WEB)).status).toBe(201)
    const revoked = await createRegistrationToken(createPlatformCtx(tenant), {})
    await revokeRegistrationToken(createPlatformCtx(tenant), revoked.registrationToken.id)
    const expired = await createRegistrationToken(
      createPlatformCtx(tenant),
      {},
      new Date(Date.now() - 90_000_000),
    )
    const before = await listClients(tenant)
    const missing = await callEndpoint('POST', '', null, WEB)
    expect(missing).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
    expect(missing.headers.get('www-authenticate')).toBe(`Bearer realm="${issuer}"`)
    for (const value of [
      'x',
      spent,
      revoked.token,
      expired.token,
      await newRegistrationToken({}, other),
      token,
    ]) {
      const answer = await callEndpoint('POST', '', value, WEB)
      expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
      expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
    }
    expect(await listClients(tenant)).toEqual(before)
  })

  test('registers one client for 50 concurrent requests with a token for one use', async ({
    newRegistrationToken,
    callEndpoint,
    listClients,
  }) => {
    const slug = await newOpenTenant()
    const token = await newRegistrationToken({ uses: 1 }, slug)
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => callEndpoint('POST', '', token, WEB, slug)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(401)])
    expect(await listClients(slug)).toHaveLength(1)
  })

  test('does not use up the token for metadata that is rejected', async ({
    newRegistrationToken,
    callEndpoint,
  }) => {
    const token = await newRegistrationToken({ uses: 1 })
    expect((await callEndpoint('POST', '', token, {})).status).toBe(400)
    expect((await callEndpoint('POST', '', token, WEB)).status).toBe(201)
  })

  test('returns the registered metadata with the values that the server chose (section 3.2.1)', async ({
    tenant,
    issuer,
    register,
    listClients,
  }) => {
    const jwk = await exportJWK((await generateKeyPair('ES256')).publicKey)
    const metadata = {
      client_name: 'Shop',
      redirect_uris: [REDIRECT_URI, 'http://localhost:8080/cb'],
      logo_uri: 'https://rp.example.com/logo.png',
      'logo_uri#de': 'https://rp.example.com/logo-de.png',
      client_uri: 'https://rp.example.com',
      policy_uri: 'https://rp.example.com/privacy',
      tos_uri: 'https://rp.example.com/terms',
      post_logout_redirect_uris: ['https://rp.example.com/bye'],
      initiate_login_uri: 'https://rp.example.com/start',
      backchannel_logout_uri: 'https://rp.example.com/logout',
      jwks: { keys: [jwk] },
      id_token_signed_response_alg: 'RS256',
      userinfo_signed_response_alg: 'ES384',
      id_token_claims: true,
      require_pushed_authorization_requests: true,
      dpop_bound_access_tokens: true,
      default_max_age: 60,
      require_auth_time: true,
      token_endpoint_auth_method: 'private_key_jwt',
    }
    const { status, headers, body } = await register({
      ...metadata,
      scope: 'openid users:write tenants:write',
      contacts: ['ada@example.com'],
      unheard_of: { of: 'x' },
      grant_types: ['authorization_code'],
      scopes: ['users:write'],
      allTenants: true,
      requireConsent: false,
    })
    expect(status).toBe(201)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toEqual({
      ...metadata,
      client_id: expect.stringMatching(/^client_/),
      client_id_issued_at: expect.any(Number),
      registration_access_token: expect.stringMatching(/^[\w-]{43}$/),
      registration_client_uri: `${issuer}/oidc/register/${body.client_id}`,
      application_type: 'web',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      subject_type: 'public',
      scope: 'openid profile email phone address offline_access session',
      backchannel_logout_session_required: true,
    })
    const row = (await listClients(tenant)).find(({ id }) => id === body.client_id)
    expect(row).toMatchObject({
      appType: 'web',
      requireConsent: true,
      registeredBy: 'registration',
      scopes: [],
      allTenants: false,
    })
  })

  test.for<[title: string, more: object, appType: string, method: string, hasSecret: boolean]>([
    ['a client with a secret by default', {}, 'web', 'client_secret_basic', true],
    [
      'a client without a secret as a single-page application',
      { token_endpoint_auth_method: 'none' },
      'single-page',
      'none',
      false,
    ],
    ['a native application', { application_type: 'native' }, 'native', 'none', false],
    [
      'a client with redirect URIs on the device only as a native application',
      { token_endpoint_auth_method: 'none', redirect_uris: ['http://127.0.0.1/cb', 'com.example.app:/cb'] },
      'native',
      'none',
      false,
    ],
  ])(
    'registers %s',
    async ([_title, more, appType, method, hasSecret], { tenant, register, listClients }) => {
      const { status, body } = await register({ ...WEB, ...more })
      expect(status).toBe(201)
      expect(body.token_endpoint_auth_method).toBe(method)
      expect(body.client_name).toMatch(/^(rp\.example\.com|127\.0\.0\.1)$/)
      expect([body.client_secret !== undefined, body.client_secret_expires_at]).toEqual(
        hasSecret ? [true, 0] : [false, undefined],
      )
      const row = (await listClients(tenant)).find(({ id }) => id === body.client_id)
      expect(row?.appType).toBe(appType)
      const pages = row?.callbacks.filter((url) => url.startsWith('http')) ?? []
      expect(row?.allowedOrigins).toEqual([...new Set(pages.map((url) => new URL(url).origin))])
    },
  )

  test.for([
    ['omitted', {}, 'RS256'],
    ['null', { id_token_signed_response_alg: null }, 'RS256'],
    ['given', { id_token_signed_response_alg: 'ES256' }, 'ES256'],
  ] as const)(
    'registers the algorithm of ID tokens, RS256 by default (OIDC Registration, section 2), when it is %s',
    async ([_title, more, alg], { register, callEndpoint }) => {
      const { body } = await register({ ...WEB, ...more })
      expect(body.id_token_signed_response_alg).toBe(alg)
      // The default of userinfo is an unsigned response.
      expect(body).not.toHaveProperty('userinfo_signed_response_alg')
      const replacement = { ...WEB, ...more, client_id: body.client_id }
      const replaced = await callEndpoint(
        'PUT',
        `/${body.client_id}`,
        body.registration_access_token,
        replacement,
      )
      expect([replaced.status, replaced.body.id_token_signed_response_alg]).toEqual([200, alg])
    },
  )

  test('unsets the algorithm of ID tokens to RS256 when a replacement omits it (RFC 7592, section 2.2)', async ({
    register,
    callEndpoint,
  }) => {
    const { body } = await register({ ...WEB, id_token_signed_response_alg: 'EdDSA' })
    const replacement = { ...WEB, client_id: body.client_id }
    const replaced = await callEndpoint(
      'PUT',
      `/${body.client_id}`,
      body.registration_access_token,
      replacement,
    )
    expect(replaced.body.id_token_signed_response_alg).toBe('RS256')
  })

  test('rejects an image as a data URL, which a stranger would store', async ({ register }) => {
    const { status, body } = await register({
      redirect_uris: ['https://rp.example.com/cb'],
      logo_uri: `data:image/png;base64,iVBORw0KGgo${'A'.repeat(13)}`,
    })
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata'])
    expect(body.error_description).toBe('logo_uri must be an http or https URL.')
  })

  test('reports all invalid metadata at once (section 3.2.2)', async ({ register }) => {
    const { status, body } = await register({
      redirect_uris: ['javascript:alert(1)', 'https://rp.example.com/*'],
      logo_uri: 'http://evil.example/logo.png',
      jwks_uri: 'http://169.254.169.254/latest/meta-data',
      jwks: { keys: [{ kty: 'oct', k: 'AA' }] },
      grant_types: ['client_credentials'],
      response_types: ['token'],
      id_token_signed_response_alg: 'none',
      backchannel_logout_uri: 'ftp://rp.example.com',
      subject_type: 'pairwise',
      client_name: 7,
    })
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata'])
    for (const name of [
      'redirect_uris.0',
      'redirect_uris.1',
      'logo_uri',
      'jwks_uri must be an https URL',
      'jwks.keys.0',
      'grant_types.0',
      'response_types.0',
      'id_token_signed_response_alg',
      'backchannel_logout_uri',
      'subject_type',
      'client_name',
    ])
      expect(body.error_description).toContain(name)
    expect((await register({ redirect_uris: ['x'] })).body.error).toBe('invalid_redirect_uri')
    for (const redirect_uris of [undefined, null, [], '', 'https://rp.example.com/cb', [7]])
      expect((await register({ redirect_uris })).body.error).toBe('invalid_redirect_uri')
    for (const metadata of ['{', '[]', 'null', '7'])
      expect((await register(metadata)).body.error).toBe('invalid_client_metadata')
    expect(
      (await register({ ...WEB, application_type: 'native', token_endpoint_auth_method: 'private_key_jwt' }))
        .body.error_description,
    ).toMatch(/token_endpoint_auth_method must be none.*jwks is required/)
  })

  test('rejects URLs with a script, userinfo, fragment, wildcard or backslash', async ({ register }) => {
    const BAD = [
      'javascript:alert(1)',
      'data:text/html,x',
      '//evil.example',
      'https://user:password@evil.example/',
      'https://rp.example.com/cb#fragment',
      'https://*.example.com/cb',
      'https://rp.example.com\\@evil.example',
      ' https://rp.example.com/cb',
    ]
    for (const bad of BAD) {
      for (const member of ['redirect_uris', 'post_logout_redirect_uris'])
        expect([bad, (await register({ ...WEB, [member]: [bad] })).status]).toEqual([bad, 400])
      for (const member of ['logo_uri', 'initiate_login_uri', 'backchannel_logout_uri'])
        if (!bad.includes('*'))
          expect([bad, member, (await register({ ...WEB, [member]: bad })).status]).toEqual([
            bad,
            member,
            400,
          ])
    }
  })

  test('grants neither management scopes nor client_credentials', async ({ app, tenant, rest, register }) => {
    const { body } = await register({ ...WEB, scope: 'openid users:read users:write clients:write' })
    expect(body.scope).not.toContain(':')
    const answer = await app.fetch(`/${tenant}/oidc/token`, {
      method: 'POST',
      headers: { authorization: basic({ id: body.client_id, secret: body.client_secret }) },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'users:read' }),
    })
    expect(answer.status).toBe(400)
    // The registration access token is not valid for the management API.
    const asCaller = await rest('GET', '/clients', undefined, { token: body.registration_access_token })
    expect(asCaller.status).toBe(401)
  })

  test('records the registration token of each change, and no secret', async ({ events, callEndpoint }) => {
    const slug = await newOpenTenant()
    const { registrationToken, token } = await createRegistrationToken(createPlatformCtx(slug), {
      note: 'Partner',
    })
    const { body } = await callEndpoint('POST', '', token, WEB, slug)
    const path = `/${body.client_id}`
    const own = body.registration_access_token as string
    const put = { ...WEB, client_id: body.client_id, client_name: 'Renamed' }
    expect((await callEndpoint('PUT', path, own, put, slug)).status).toBe(200)
    expect((await callEndpoint('DELETE', path, own, undefined, slug)).status).toBe(204)
    // The first client that RS256 signs for also creates the key.
    const log = (await events({ tenant: slug })).filter(({ type }) => type !== 'key.rotated')
    const by = { detail: { by: 'registration' } }
    expect(log.slice(-4)).toMatchObject([
      { type: 'registration_token.created', subjectIds: [registrationToken.id] },
      { type: 'client.created', subjectIds: [body.client_id, registrationToken.id], ...by, ip: '127.0.0.1' },
      { type: 'client.updated', changedFields: ['name'], actorClientId: body.client_id, ...by },
      { type: 'client.deleted', subjectIds: [body.client_id], ...by },
    ])
    for (const secret of [token, own, body.client_secret]) expect(JSON.stringify(log)).not.toContain(secret)
  })
})
