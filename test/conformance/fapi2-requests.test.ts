import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { sha256 } from '../../src/core/crypto.ts'
import { dbFor } from '../support/database.ts'
import { INVALID_CLIENT, MODULE, rejectedWith, test } from '../support/fapi2.ts'
import { answerIn, REDIRECT_URI, signInAt } from '../support/protocol.ts'
import { PREFIX } from '../support/pushed-requests.ts'

// fapi2-security-profile-final-test-plan of the OpenID Foundation, with private_key_jwt, DPoP and unsigned pushed
// requests: the modules about authorization requests. Each test has the name of the module whose conditions it checks.

describe('the FAPI 2.0 Security Profile: authorization requests', () => {
  test(`${MODULE}-discovery-end-point-verification`, async ({ app, tenant, issuer }) => {
    const metadata = await (await app.fetch(`/${tenant}/.well-known/openid-configuration`)).json()
    expect(metadata).toMatchObject({
      issuer,
      pushed_authorization_request_endpoint: `${issuer}/oidc/par`,
      authorization_response_iss_parameter_supported: true,
      claims_parameter_supported: true,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
      grant_types_supported: expect.arrayContaining(['authorization_code', 'refresh_token']),
    })
    const permitted = expect.arrayContaining(['PS256', 'ES256', 'EdDSA'])
    expect(metadata).toMatchObject({
      token_endpoint_auth_signing_alg_values_supported: permitted,
      dpop_signing_alg_values_supported: permitted,
      id_token_signing_alg_values_supported: expect.arrayContaining(['ES256', 'EdDSA']),
    })
  })

  test(`${MODULE}-user-rejects-authentication`, async ({ issuer, browser, push, pathFor }) => {
    const { response, path } = await browser.open(pathFor((await push()).body.request_uri))
    const { location } = await browser.submit({ html: await response.text(), path }, { step: 'cancel' })
    expect(answerIn(location)).toMatchObject({ error: 'access_denied', state: 'a-state', iss: issuer })
  })

  test(`${MODULE}-ensure-authorization-request-without-state-success`, async ({ issuer, authorize }) => {
    expect(await authorize({ state: null })).toEqual({ code: expect.any(String), iss: issuer })
  })

  test(`${MODULE}-ensure-authorization-request-without-nonce-success`, async ({ authorize, redeem }) => {
    const { status, body } = await redeem((await authorize({ nonce: null })).code)
    expect([status, decodeJwt(body.id_token ?? '').nonce]).toEqual([200, undefined])
  })

  test.for([
    ['ensure-authorization-request-with-64-char-nonce-success', 64],
    ['ensure-authorization-request-with-long-nonce', 384],
  ] as const)(`${MODULE}-%s (nonce)`, async ([, length], { authorize, redeem }) => {
    const nonce = 'n'.repeat(length)
    const { body } = await redeem((await authorize({ nonce })).code)
    expect(decodeJwt(body.id_token ?? '').nonce).toBe(nonce)
  })

  test(`${MODULE}-ensure-authorization-request-with-long-state`, async ({ authorize }) => {
    const state = 's'.repeat(384)
    expect((await authorize({ state })).state).toBe(state)
  })

  test(`${MODULE}-ensure-other-scope-order-succeeds`, async ({ authorize, redeem }) => {
    const { status } = await redeem((await authorize({ scope: 'email profile openid' })).code)
    expect(status).toBe(200)
  })

  test(`${MODULE}-test-claims-parameter-identity-claims`, async ({
    visitor,
    authorize,
    redeem,
    callUserinfo,
  }) => {
    const claims = JSON.stringify({ id_token: { email: null }, userinfo: { email: { essential: true } } })
    const { body } = await redeem((await authorize({ claims })).code)
    expect(decodeJwt(body.id_token ?? '').email).toBe(visitor.user.email)
    expect(await (await callUserinfo(body.access_token)).json()).toMatchObject({ email: visitor.user.email })
  })

  test(`${MODULE}-ensure-different-nonce-inside-and-outside-request-object`, async ({
    authorize,
    redeem,
  }) => {
    const { code } = await authorize({ nonce: 'inside' }, {}, { nonce: 'outside' })
    expect(decodeJwt((await redeem(code)).body.id_token ?? '').nonce).toBe('inside')
  })

  test(`${MODULE}-ensure-different-state-inside-and-outside-request-object`, async ({ authorize }) => {
    expect((await authorize({ state: 'inside' }, {}, { state: 'outside' })).state).toBe('inside')
  })

  test(`${MODULE}-state-only-outside-request-object-not-used`, async ({ authorize }) => {
    expect(await authorize({ state: null }, {}, { state: 'outside' })).not.toHaveProperty('state')
  })

  test.for<[name: string, more: Record<string, string | null>, error: string]>([
    ['ensure-request-object-without-redirect-uri-fails', { redirect_uri: null }, 'invalid_request'],
    ['ensure-redirect-uri-in-authorization-request', { redirect_uri: '' }, 'invalid_request'],
    [
      'plain-fapi-tolerate-unregistered-redirect-uri',
      { redirect_uri: 'https://rp.example.com/other' },
      'invalid_request',
    ],
    [
      'ensure-response-type-code-idtoken-fails',
      { response_type: 'code id_token' },
      'unsupported_response_type',
    ],
    ['ensure-response-type-token-fails', { response_type: 'token' }, 'unsupported_response_type'],
    [
      'par-authorization-request-containing-request_uri-form-param',
      { request_uri: `${PREFIX}x` },
      'invalid_request',
    ],
    ['par-ensure-pkce-required', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
    ['par-plain-pkce-rejected', { code_challenge_method: 'plain' }, 'invalid_request'],
  ])(`${MODULE}-%s (pushed request)`, async ([, more, error], { push }) => {
    expect(await push(more)).toMatchObject(rejectedWith(error))
  })

  test(`${MODULE}-ensure-unsigned-authorization-request-without-using-par-fails`, async ({
    oidc,
    visitor,
    party,
  }) => {
    const path = oidc.authorizePath({}, { id: party.client.id, secret: '' })
    const { headers } = await visitor.browser.fetch(path)
    expect(answerIn(headers.get('location'))).toMatchObject({ error: 'invalid_request' })
  })

  test(`${MODULE}-par-without-duplicate-parameters`, async ({ visitor, push, pathFor }) => {
    const path = pathFor((await push()).body.request_uri)
    expect([...new URLSearchParams(path.split('?')[1]).keys()]).toEqual(['client_id', 'request_uri'])
    const location = (await visitor.browser.fetch(path)).headers.get('location') ?? ''
    expect(location.startsWith(`${REDIRECT_URI}?`)).toBe(true)
    expect(answerIn(location)).toHaveProperty('code')
  })

  test(`${MODULE}-par-attempt-invalid-http-method`, async ({ app, tenant }) => {
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await app.fetch(`/${tenant}/oidc/par`, { method })).status).toBe(405)
  })

  test(`${MODULE}-par-ensure-reused-request-uri-prior-to-auth-completion-succeeds`, async ({
    person,
    browser,
    push,
    pathFor,
    redeem,
  }) => {
    const { status, body } = await push()
    expect(status).toBe(201)
    expect(Number(body.expires_in)).toBeGreaterThanOrEqual(5)
    expect(Number(body.expires_in)).toBeLessThan(600)
    const path = pathFor(body.request_uri)
    expect((await browser.open(path)).response.status).toBe(200)
    const { location } = await signInAt(browser, path, person.email)
    expect((await redeem(answerIn(location).code)).status).toBe(200)
  })

  test(`${MODULE}-par-attempt-reuse-request_uri`, async ({ visitor, push, pathFor }) => {
    const path = pathFor((await push()).body.request_uri)
    expect((await visitor.browser.fetch(path)).status).toBe(303)
    const again = await visitor.browser.fetch(path)
    expect([again.status, again.headers.get('location')]).toEqual([400, null])
  })

  test(`${MODULE}-par-attempt-to-use-expired-request_uri`, async ({ tenant, visitor, push, pathFor }) => {
    const { request_uri: requestUri = '' } = (await push()).body
    const requestHash = sha256(requestUri.slice(PREFIX.length))
    await dbFor(tenant).pushedRequest.update({
      where: { tenantId_requestHash: { tenantId: tenant, requestHash } },
      data: { expiresAt: new Date(Date.now() - 1) },
    })
    expect((await visitor.browser.fetch(pathFor(requestUri))).status).toBe(400)
  })

  test(`${MODULE}-par-attempt-to-use-request_uri-for-different-client`, async ({
    visitor,
    another,
    push,
    pathFor,
  }) => {
    const { request_uri: requestUri } = (await push({}, {}, another)).body
    const response = await visitor.browser.fetch(pathFor(requestUri))
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
  })

  test(`${MODULE}-ensure-mismatched-dpop-jkt-fails`, async ({ push, prove, otherKey }) => {
    const deviation = { proof: await prove('par') }
    expect(await push({ dpop_jkt: otherKey.thumbprint }, deviation)).toMatchObject(
      rejectedWith('invalid_request'),
    )
  })

  test('rejects a pushed request without an assertion', async ({ push }) => {
    expect(await push({}, { assertion: null })).toMatchObject(INVALID_CLIENT)
  })
})
