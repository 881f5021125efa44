import { decodeProtectedHeader } from 'jose'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { issuerOf } from '../../../src/core/issuer.ts'
import { signJwt } from '../../../src/keys/keys.ts'
import { lockUser } from '../../../src/users/users.ts'
import { newTenant } from '../../support/actors.ts'
import { getRequestId, test } from '../../support/diagnostics.ts'
import { REDIRECT_URI } from '../../support/protocol.ts'

describe('a rejected authorization request', () => {
  test.for([
    ['path', `${REDIRECT_URI}/`, { difference: 'path: expected "/cb", got "/cb/"' }],
    [
      'host',
      'https://rp.example.org/cb',
      { difference: 'host: expected "rp.example.com", got "rp.example.org"' },
    ],
    ['scheme', 'http://rp.example.com/cb', { difference: 'scheme: expected "https:", got "http:"' }],
    ['query', `${REDIRECT_URI}?a=1`, { difference: 'query: expected "", got "?a=1"' }],
    [
      'spelling',
      'https://RP.example.com/cb',
      { difference: 'the same URL in another spelling, different from character 9 on' },
    ],
    ['form', '/cb', { difference: 'not an absolute URL, and different from character 1 on' }],
  ] as const)(
    'records where the redirect_uri differs in its %s, under the request id on the error page',
    async ([_, given, why], { app, client, oidc, listRejections }) => {
      const answer = await app.fetch(oidc.authorizePath({ redirect_uri: given }))
      const page = await answer.text()
      expect(answer.status).toBe(400)
      expect(page).toContain(getRequestId(answer))
      expect(page).toMatch(/expected<\/bdi>.*https:\/\/rp\.example\.com\/cb/)
      expect(await listRejections(answer)).toEqual([
        expect.objectContaining({
          type: 'authorize.refused',
          subjectIds: [client.id],
          detail: {
            error: 'invalid_request',
            description: 'The redirect_uri is not registered for this client.',
            member: 'callbacks',
            given,
            expected: REDIRECT_URI,
            registered: 1,
            ...why,
          },
        }),
      ])
    },
  )

  test.for([
    ['native', 'http://127.0.0.1:3391/other', 'path: expected "/callback", got "/other"'],
    ['web', 'http://127.0.0.1:3391/other', 'port: expected "", got "3391"'],
  ] as const)(
    'names for a %s client where %s differs, without a port that may vary',
    async ([appType, given, difference], { app, newClient, oidc, listRejections }) => {
      const callbacks = ['http://[::1]/callback', 'http://127.0.0.1/callback']
      const client = await newClient({ appType, callbacks })
      const answer = await app.fetch(oidc.authorizePath({ redirect_uri: given }, client))
      const expected = 'http://127.0.0.1/callback'
      expect(await listRejections(answer)).toMatchObject([{ detail: { given, expected, difference } }])
    },
  )

  test('records the client_id of an unknown client', async ({ app, oidc, listRejections }) => {
    const answer = await app.fetch(oidc.authorizePath({}, { id: 'client_unknown', secret: '' }))
    expect(await listRejections(answer)).toMatchObject([
      { type: 'authorize.refused', subjectIds: [], detail: { client_id: 'client_unknown' } },
    ])
  })

  test('is recorded when the error is sent to the client', async ({ app, client, oidc, listRejections }) => {
    const answer = await app.fetch(oidc.authorizePath({ response_type: 'token' }))
    expect(answer.headers.get('location')).toContain('error=unsupported_response_type')
    expect(await listRejections(answer)).toMatchObject([
      { type: 'authorize.refused', subjectIds: [client.id], detail: { error: 'unsupported_response_type' } },
    ])
  })

  test('records with prompt=none what the session lacks', async ({
    app,
    tenant,
    newClient,
    person,
    browser,
    oidc,
    listRejections,
  }) => {
    const silent = (more = {}) => oidc.authorizePath({ prompt: 'none', ...more })
    const anonymous = await app.fetch(silent())
    expect(await listRejections(anonymous)).toMatchObject([
      { detail: { error: 'login_required', reason: expect.stringContaining('sent no session') } },
    ])
    const ada = person
    await oidc.signIn(browser, ada.email)
    const old = await browser.fetch(silent({ max_age: '0' }))
    expect(await listRejections(old)).toMatchObject([
      {
        detail: {
          error: 'login_required',
          reason: 'the sign-in is older than max_age, or than the organization permits',
          max_age: 0,
        },
      },
    ])
    const consenting = await newClient({ requireConsent: true })
    const unasked = await browser.fetch(oidc.authorizePath({ prompt: 'none' }, consenting))
    expect(await listRejections(unasked)).toMatchObject([
      {
        subjectIds: [consenting.id],
        detail: { error: 'consent_required', signed_in: ada.id, missing: 'openid profile email' },
      },
    ])
    await lockUser(createPlatformCtx(tenant), ada.id)
    const locked = await browser.fetch(silent())
    expect(await listRejections(locked)).toMatchObject([
      { detail: { error: 'login_required', reason: expect.stringContaining('has ended') } },
    ])
  })

  test('records which of login_hint, sub, acr and consent was not met', async ({
    newClient,
    client,
    person,
    browser,
    oidc,
    listRejections,
  }) => {
    const ada = person
    await oidc.signIn(browser, ada.email)
    const asking = await newClient({ requireConsent: true })
    const readDiagnostics = async (more: Record<string, string>, of = client) => {
      const answer = await browser.fetch(oidc.authorizePath({ prompt: 'none', ...more }, of))
      return (await listRejections(answer))[0]?.detail
    }
    const claims = (request: object) => ({ claims: JSON.stringify(request) })
    expect(await readDiagnostics({ login_hint: 'eve@example.com' })).toMatchObject({
      error: 'login_required',
      reason: 'the login_hint is not an address of the signed-in user',
      signed_in: ada.id,
    })
    expect(await readDiagnostics(claims({ id_token: { sub: { value: 'user_other' } } }))).toMatchObject({
      error: 'login_required',
      reason: expect.stringContaining('is not the one that id_token_hint'),
      signed_in: ada.id,
    })
    const acr = { essential: true, values: ['urn:vestibule:phishing-resistant'] }
    expect(await readDiagnostics(claims({ id_token: { acr } }))).toMatchObject({
      error: 'unmet_authentication_requirements',
      requested: JSON.stringify(acr),
      supported: 'urn:vestibule:federated urn:vestibule:otp urn:vestibule:mfa phr',
    })
    const phone = { scope: 'openid', ...claims({ userinfo: { phone_number: null } }) }
    expect(await readDiagnostics(phone, asking)).toMatchObject({
      error: 'consent_required',
      missing: 'openid phone_number',
    })
  })

  test.for(['authorize', 'logout'])(
    'records at %s why its id_token_hint is not an ID token of the tenant',
    async (endpoint, { app, tenant, client, oidc, listRejections }) => {
      const readDiagnostics = async (hint: string) => {
        const params = { id_token_hint: hint, prompt: 'none' }
        const logout = `/${tenant}/oidc/logout?${new URLSearchParams(params)}`
        const answer = await app.fetch(endpoint === 'logout' ? logout : oidc.authorizePath(params))
        const [rejection] = await listRejections(answer)
        expect(rejection?.detail.description).toBe('The id_token_hint is not an ID token of this issuer.')
        expect(JSON.stringify(rejection)).not.toContain(hint)
        return rejection?.detail
      }
      const claims = { iss: issuerOf(tenant), sub: 'user_x', aud: client.id, exp: 1 }
      const good = await signJwt(tenant, 'JWT', claims)
      const [header = '', payload = '', signature = ''] = good.split('.')
      const altered = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`
      const { kid } = decodeProtectedHeader(good)
      const unknown = Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'JWT', kid: 'unknown' }))
      expect(await readDiagnostics('no-jwt-at-all')).toMatchObject({
        reason: 'it is not a JWT, or is truncated',
      })
      const elsewhere = await newTenant()
      const foreign = await signJwt(elsewhere, 'JWT', {
        ...claims,
        iss: issuerOf(elsewhere),
      })
      expect(await readDiagnostics(foreign)).toMatchObject({
        reason: 'it was issued by another issuer',
        given: issuerOf(elsewhere),
        expected: issuerOf(tenant),
      })
      expect(await readDiagnostics(`${unknown.toString('base64url')}.${payload}.${signature}`)).toMatchObject(
        {
          reason: expect.stringContaining('its key is not'),
          kid: 'unknown',
        },
      )
      expect(await readDiagnostics(`${header}.${payload}.${altered}`)).toMatchObject({
        reason: expect.stringContaining('its signature is invalid'),
        kid,
      })
      for (const other of [
        await signJwt(tenant, 'at+jwt', claims),
        await signJwt(tenant, 'JWT', { ...claims, exp: undefined }),
      ])
        expect(await readDiagnostics(other)).toMatchObject({
          reason: expect.stringContaining('not an ID token'),
        })
    },
  )

  test('is recorded when the user denies consent', async ({
    newClient,
    person,
    browser,
    oidc,
    listRejections,
  }) => {
    const asking = await newClient({ requireConsent: true })
    const consent = await oidc.signIn(browser, person.email, {}, asking)
    const html = await consent.response.text()
    const { response } = await browser.submit({ html, path: consent.path }, { step: 'deny' })
    expect(await listRejections(response)).toMatchObject([
      { type: 'authorize.refused', subjectIds: [asking.id], detail: { error: 'access_denied' } },
    ])
  })
})
