import { describe, expect } from 'vitest'
import { MODULE, rejectedWith, test } from '../support/fapi2.ts'
import { type ClientKey, makeKey, nowSeconds } from '../support/proofs.ts'

// fapi2-security-profile-final-test-plan of the OpenID Foundation, with private_key_jwt and DPoP: the modules about DPoP.
// Each test has the name of the module whose conditions it checks.

describe('the FAPI 2.0 Security Profile: DPoP', () => {
  test(`${MODULE}-ensure-holder-of-key-required`, async ({ authorize, redeem, callUserinfo }) => {
    const { code } = await authorize()
    expect(await redeem(code, {}, { proof: null })).toMatchObject(rejectedWith('invalid_request'))
    // The code was not used.
    const { status, body } = await redeem(code)
    expect(status).toBe(200)
    expect((await callUserinfo(body.access_token, { scheme: 'Bearer' })).status).toBe(401)
  })

  test(`${MODULE}-access-token-type-header-case-sensitivity`, async ({ authorize, redeem, callUserinfo }) => {
    const { body } = await redeem((await authorize()).code)
    for (const scheme of ['DPoP', 'dpop', 'DPOP'])
      expect((await callUserinfo(body.access_token, { scheme })).status).toBe(200)
  })

  test(`${MODULE}-check-dpop-proof-nbf-exp`, async ({ authorize, redeem, prove }) => {
    const { code } = await authorize()
    for (const claims of [{ exp: nowSeconds() - 300 }, { nbf: nowSeconds() + 300 }])
      expect(await redeem(code, {}, { proof: await prove('token', claims) })).toMatchObject(
        rejectedWith('invalid_dpop_proof'),
      )
    const proof = await prove('token', { nbf: nowSeconds() - 10, exp: nowSeconds() + 60 })
    expect((await redeem(code, {}, { proof })).status).toBe(200)
  })

  test.for([
    ['ensure-dpopproof-with-iat-10seconds-before-succeeds', -10],
    ['ensure-dpopproof-with-iat-10seconds-after-succeeds', 10],
  ] as const)(`${MODULE}-%s`, async ([, seconds], { authorize, redeem, prove, callUserinfo }) => {
    const proof = await prove('token', { iat: nowSeconds() + seconds })
    const { status, body } = await redeem((await authorize()).code, {}, { proof })
    expect(status).toBe(200)
    const claims = { iat: nowSeconds() + seconds }
    expect((await callUserinfo(body.access_token, { claims })).status).toBe(200)
  })

  test(`${MODULE}-ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt`, async ({
    authorize,
    redeem,
    prove,
    otherKey,
  }) => {
    const { code } = await authorize({}, { proof: await prove('par') })
    const proof = await prove('token', {}, {}, otherKey)
    expect(await redeem(code, {}, { proof })).toMatchObject(rejectedWith('invalid_grant'))
  })

  test(`${MODULE}-ensure-token-endpoint-fails-with-mismatched-dpop-jkt`, async ({
    authorize,
    redeem,
    prove,
    proofKey,
    otherKey,
  }) => {
    const { code } = await authorize({ dpop_jkt: proofKey.thumbprint })
    const proof = await prove('token', {}, {}, otherKey)
    expect(await redeem(code, {}, { proof })).toMatchObject(rejectedWith('invalid_grant'))
  })

  test(`${MODULE}-ensure-dpopproof-at-par-endpoint-binding-success`, async ({ authorize, redeem, prove }) => {
    const { code } = await authorize({}, { proof: await prove('par') })
    expect((await redeem(code)).status).toBe(200)
  })

  test(`${MODULE}-ensure-dpop-auth-code-binding-success`, async ({ authorize, redeem, proofKey }) => {
    const { code } = await authorize({ dpop_jkt: proofKey.thumbprint })
    expect((await redeem(code)).status).toBe(200)
  })

  test(`${MODULE}-dpop-negative-tests`, async ({
    authorize,
    redeem,
    prove,
    proofKey,
    otherKey,
    issuer,
    callUserinfo,
  }) => {
    const { code } = await authorize()
    const rsa = await makeKey('RS256')
    const deviations: [claims: object, header?: object, key?: ClientKey][] = [
      [{ jti: undefined }],
      [{ htm: undefined }],
      [{ htm: 'GET' }],
      [{ htu: undefined }],
      [{ htu: `${issuer}/oidc/par` }],
      [{ iat: undefined }],
      [{ iat: nowSeconds() - 600 }],
      [{ iat: nowSeconds() + 600 }],
      [{}, { typ: 'JWT' }],
      [{}, { jwk: undefined }],
      [{}, { jwk: otherKey.jwk }],
      [{}, { jwk: { ...proofKey.jwk, d: 'AA' } }],
      [{}, {}, rsa],
    ]
    for (const [claims, header = {}, key = proofKey] of deviations) {
      const proof = await prove('token', claims, header, key)
      const { status, body } = await redeem(code, {}, { proof })
      expect([claims, header, status, body.error]).toEqual([claims, header, 400, 'invalid_dpop_proof'])
    }
    const { body } = await redeem(code)
    for (const claims of [{ ath: undefined }, { ath: 'x' }, { htm: 'POST' }])
      expect((await callUserinfo(body.access_token, { claims })).status).toBe(401)
    expect((await callUserinfo(body.access_token, { key: otherKey })).status).toBe(401)
  })
})
