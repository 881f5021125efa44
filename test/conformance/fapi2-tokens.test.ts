import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect } from 'vitest'
import { rotateClientSecret } from '../../src/clients/client-secrets.ts'
import { alterCode, readCodeContents } from '../support/codes.ts'
import { dbFor } from '../support/database.ts'
import { INVALID_CLIENT, MODULE, rejectedWith, test } from '../support/fapi2.ts'
import { nowSeconds } from '../support/proofs.ts'

// fapi2-security-profile-final-test-plan of the OpenID Foundation, with private_key_jwt and DPoP: the modules about client
// assertions, codes and refresh tokens. Each test has the name of the module whose conditions it checks.

describe('the FAPI 2.0 Security Profile: client authentication', () => {
  test.for<[name: string, claims: (issuer: string) => object]>([
    ['par-test-array-as-audience-fails', (issuer) => ({ aud: [issuer] })],
    ['par-test-par-endpoint-url-as-audience-fails', (issuer) => ({ aud: `${issuer}/oidc/par` })],
    ['par-test-token-endpoint-url-as-audience-fails', (issuer) => ({ aud: `${issuer}/oidc/token` })],
    [
      'par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails',
      () => ({ nbf: nowSeconds() + 70, iat: nowSeconds() + 70 }),
    ],
  ])(`${MODULE}-%s (pushed request)`, async ([, claims], { issuer, push, assert }) => {
    expect(await push({}, { assertion: await assert(claims(issuer)) })).toMatchObject(INVALID_CLIENT)
  })

  test(`${MODULE}-par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted`, async ({
    push,
    assert,
  }) => {
    const assertion = await assert({ nbf: nowSeconds() + 8, iat: nowSeconds() + 8 })
    expect((await push({}, { assertion })).status).toBe(201)
  })

  test.for<[name: string, claims: (issuer: string) => object]>([
    ['ensure-client-assertion-with-exp-is-5-minutes-in-past-fails', () => ({ exp: nowSeconds() - 300 })],
    ['ensure-client-assertion-with-wrong-aud-fails', (issuer) => ({ aud: `${issuer}/other` })],
    ['ensure-client-assertion-with-no-sub-fails', () => ({ sub: undefined })],
  ])(`${MODULE}-%s (token request)`, async ([, claims], { issuer, party, authorize, redeem, assert }) => {
    const { code } = await authorize()
    const deviation = { assertion: await assert(claims(issuer)) }
    expect(await redeem(code, { client_id: party.client.id }, deviation)).toMatchObject(INVALID_CLIENT)
    expect((await redeem(code)).status).toBe(200)
  })

  test(`${MODULE}-ensure-client-assertion-in-token-endpoint`, async ({ party, authorize, redeem }) => {
    const { code } = await authorize()
    expect(await redeem(code, { client_id: party.client.id }, { assertion: null })).toMatchObject(
      INVALID_CLIENT,
    )
  })

  test(`${MODULE}-ensure-client-id-in-token-endpoint`, async ({ another, authorize, redeem }) => {
    const { code } = await authorize()
    const { status } = await redeem(code, { client_id: another.client.id })
    expect([400, 401]).toContain(status)
  })

  test(`${MODULE}-ensure-signed-client-assertion-with-RS256-fails`, async ({ newParty, push }) => {
    for (const [alg, expected] of Object.entries({ PS256: 201, ES256: 201, EdDSA: 201, RS256: 401 }))
      expect([alg, (await push({}, {}, await newParty(alg))).status]).toEqual([alg, expected])
  })

  test('rejects a secret of the client', async ({ app, tenant, party, ctx }) => {
    const { secret } = await rotateClientSecret(ctx, party.client.id, {})
    const form = { token: 'x', client_id: party.client.id, client_secret: secret }
    const response = await app.fetch(`/${tenant}/oidc/introspect`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    expect(response.status).toBe(401)
  })
})

describe('the FAPI 2.0 Security Profile: tokens', () => {
  test(`${MODULE}-happy-flow`, async ({ visitor, party, issuer, authorize, redeem, callUserinfo }) => {
    const answer = await authorize({ scope: 'openid email' })
    expect(answer).toEqual({ code: expect.any(String), state: 'a-state', iss: issuer })
    const { status, headers, body } = await redeem(answer.code)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body).toMatchObject({ token_type: 'DPoP', scope: 'openid email' })
    const idToken = decodeJwt(body.id_token ?? '')
    expect(idToken).toMatchObject({ iss: issuer, aud: party.client.id, nonce: 'a-nonce' })
    expect(decodeProtectedHeader(body.id_token ?? '').alg).toBe('ES256')
    const info = await callUserinfo(body.access_token)
    expect(await info.json()).toMatchObject({ sub: visitor.user.id, email: visitor.user.email })
  })

  test(`${MODULE}-ensure-authorization-code-is-bound-to-client`, async ({ another, authorize, redeem }) => {
    const { code } = await authorize()
    expect(await redeem(code, {}, {}, another)).toMatchObject(rejectedWith('invalid_grant'))
  })

  test(`${MODULE}-attempt-reuse-authorization-code-after-one-second`, async ({
    authorize,
    redeem,
    callUserinfo,
  }) => {
    const { code } = await authorize()
    const { body } = await redeem(code)
    expect(await redeem(code)).toMatchObject(rejectedWith('invalid_grant'))
    expect((await callUserinfo(body.access_token)).status).toBe(401)
  })

  test(`${MODULE}-ensure-token-endpoint-fails-with-expired-auth-code`, async ({
    tenant,
    authorize,
    redeem,
  }) => {
    const { code = '' } = await authorize()
    const { expiresAt } = await readCodeContents(tenant, code)
    expect(expiresAt.getTime()).toBeLessThanOrEqual(Date.now() + 60_000)
    const expired = await alterCode(tenant, code, { expiresAt: new Date(Date.now() - 1) })
    expect(await redeem(expired)).toMatchObject(rejectedWith('invalid_grant'))
  })

  test.for<[name: string, verifier: string | null, error: string]>([
    ['ensure-pkce-code-verifier-required', null, 'invalid_request'],
    ['incorrect-pkce-code-verifier-rejected', 'w'.repeat(43), 'invalid_grant'],
  ])(`${MODULE}-%s (PKCE)`, async ([, verifier, error], { authorize, redeem }) => {
    const { code } = await authorize()
    expect(await redeem(code, { code_verifier: verifier })).toMatchObject(rejectedWith(error))
  })

  test(`${MODULE}-refresh-token`, async ({
    tenant,
    another,
    otherKey,
    authorize,
    redeem,
    refresh,
    prove,
    callUserinfo,
  }) => {
    const { code } = await authorize({ scope: 'openid offline_access' })
    const { refresh_token: token = '' } = (await redeem(code)).body
    const first = await refresh(token)
    expect(first).toMatchObject({ status: 200, body: { refresh_token: token, token_type: 'DPoP' } })
    await dbFor(tenant).grant.update({
      where: { tenantId_id: { tenantId: tenant, id: token.split('.')[0] ?? '' } },
      data: { rotatedAt: new Date(Date.now() - 3_600_000) },
    })
    const again = await refresh(token)
    expect(again).toMatchObject({ status: 200, body: { refresh_token: token } })
    expect((await callUserinfo(again.body.access_token)).status).toBe(200)
    expect(await refresh(token, {}, another)).toMatchObject(rejectedWith('invalid_grant'))
    expect(await refresh(token, { assertion: null })).toMatchObject(INVALID_CLIENT)
    expect(await refresh(token, { proof: null })).toMatchObject(rejectedWith('invalid_request'))
    // The client authenticates, so that it may use another key (RFC 9449, section 5).
    const proof = await prove('token', {}, {}, otherKey)
    const moved = await refresh(token, { proof })
    expect(moved.status).toBe(200)
    expect((await callUserinfo(moved.body.access_token, { key: otherKey })).status).toBe(200)
  })
})
