import { createHmac } from 'node:crypto'
import { decodeJwt, exportSPKI } from 'jose'
import { describe, expect } from 'vitest'
import { updateClient } from '../../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { newTenant } from '../../support/actors.ts'
import { INVALID_CLIENT, JWT_BEARER, MACHINE, type Own, test } from '../../support/client-assertions.ts'
import { makeAssertion, makeKey, nowSeconds, unsigned } from '../../support/proofs.ts'
import { basic, tokenRequest } from '../../support/protocol.ts'

/** An object that can be converted neither to a string nor to a number. */
const ODD = { toString: 1, valueOf: 1 }
/** JSON that JSON.parse reads and JSON.stringify cannot write. */
const NESTED = '['.repeat(20_000) + ']'.repeat(20_000)

const hs256 = (claims: object, secret: string) => {
  const input = unsigned({ alg: 'HS256', kid: 'ec' }, claims).slice(0, -1)
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}
const claimsOf = async (assert: Own['assert']) => decodeJwt(await assert())

describe('a client assertion that is not valid', () => {
  test.for<[name: string, make: (own: Own) => Promise<string> | string, diagnostics: object]>([
    [
      'by another key',
      ({ assert, keys }) => assert({}, {}, keys.stranger),
      { reason: 'the signature does not verify with this key', kid: 'ec', alg: 'ES256' },
    ],
    [
      'by a key in its header',
      ({ assert, keys }) => assert({}, { jwk: keys.stranger.jwk }, keys.stranger),
      { reason: 'the signature does not verify with this key' },
    ],
    [
      'by an unknown kid',
      ({ assert }) => assert({}, { kid: 'unknown' }),
      { reason: 'no key of the client matches', kid: 'unknown', alg: 'ES256' },
    ],
    [
      'by the kid of a key of another type',
      ({ assert }) => assert({}, { kid: 'rsa' }),
      { reason: 'no key of the client matches', kid: 'rsa', alg: 'ES256' },
    ],
    [
      'by an algorithm that differs from the one of its key',
      async ({ assert }) => assert({}, { kid: 'rsa' }, { ...(await makeKey('PS256')), alg: 'PS256' }),
      { reason: 'no key of the client matches', alg: 'PS256' },
    ],
    [
      'with alg none',
      async ({ assert }) => unsigned({ alg: 'none', kid: 'ec' }, await claimsOf(assert)),
      { reason: 'the algorithm is not supported', alg: 'none' },
    ],
    [
      'by HMAC with the client’s secret',
      async ({ assert, machine }) => hs256(await claimsOf(assert), machine.secret),
      { reason: 'the algorithm is not supported', alg: 'HS256' },
    ],
    [
      'by HMAC with the public key',
      async ({ assert, keys }) => hs256(await claimsOf(assert), await exportSPKI(keys.ec.publicKey)),
      { reason: 'the algorithm is not supported', alg: 'HS256' },
    ],
    [
      'cut by its last character',
      async ({ assert }) => (await assert()).slice(0, -1),
      { method: 'private_key_jwt' },
    ],
    ['with a longer signature', async ({ assert }) => `${await assert()}A`, { method: 'private_key_jwt' }],
    [
      'of another issuer',
      ({ assert }) => assert({ iss: 'client_other' }),
      { claim: 'iss', given: 'client_other' },
    ],
    ['without an issuer', ({ assert }) => assert({ iss: undefined }), { claim: 'iss' }],
    ['without a subject', ({ assert }) => assert({ sub: undefined }), { claim: 'sub' }],
    [
      'about another client',
      ({ assert }) => assert({ sub: 'client_other' }),
      { claim: 'sub', given: 'client_other' },
    ],
    [
      'for another audience',
      ({ assert }) => assert({ aud: 'https://elsewhere.example' }),
      {
        reason: 'its audience includes another recipient',
        given: 'https://elsewhere.example',
        expected: expect.stringContaining('/oidc/token'),
      },
    ],
    [
      'for another audience as well',
      ({ assert, issuer }) => assert({ aud: [issuer, 'https://elsewhere.example'] }),
      { reason: 'its audience includes another recipient' },
    ],
    [
      'for the userinfo endpoint',
      ({ assert, issuer }) => assert({ aud: `${issuer}/oidc/userinfo` }),
      { claim: 'aud' },
    ],
    [
      'for an issuer with a slash at its end',
      ({ assert, issuer }) => assert({ aud: `${issuer}/` }),
      { claim: 'aud' },
    ],
    ['without an audience', ({ assert }) => assert({ aud: undefined }), { claim: 'aud' }],
    ['without an expiry', ({ assert }) => assert({ exp: undefined }), { claim: 'exp' }],
    [
      'for longer than an hour',
      ({ assert }) => assert({ exp: nowSeconds() + 3700 }),
      { reason: 'its lifetime is too long', expected: 3600 },
    ],
    [
      'after its expiry',
      ({ assert }) => assert({ exp: nowSeconds() - 100 }),
      { reason: 'it has expired', seconds_late: expect.closeTo(100, -1) },
    ],
    ['before its nbf', ({ assert }) => assert({ nbf: nowSeconds() + 100 }), { claim: 'nbf' }],
    [
      'with a future iat',
      ({ assert }) => assert({ iat: nowSeconds() + 100 }),
      { reason: 'it was issued in the future', seconds_ahead: expect.closeTo(100, -1) },
    ],
    ['without a jti', ({ assert }) => assert({ jti: undefined }), { claim: 'jti' }],
    ['with an empty jti', ({ assert }) => assert({ jti: '' }), { claim: 'jti' }],
    ['with a jti that is not a string', ({ assert }) => assert({ jti: 1 }), { claim: 'jti' }],
    [
      'with the type of a DPoP proof',
      ({ assert }) => assert({}, { typ: 'dpop+jwt' }),
      { reason: 'its typ is not accepted', typ: 'dpop+jwt' },
    ],
    [
      'with a type that is not a string',
      ({ assert }) => assert({}, { typ: ODD }),
      { reason: 'its typ is not accepted' },
    ],
    [
      'with a kid that is not a string',
      ({ assert }) => assert({}, { kid: ODD }),
      { kid: JSON.stringify(ODD) },
    ],
    [
      'with a kid that is nested too deeply to be recorded',
      () => `${Buffer.from(`{"alg":"ES256","kid":${NESTED}}`).toString('base64url')}.e30.AA`,
      { kid: 'nested too deeply to be shown' },
    ],
    [
      'with issuer and subject that are not strings',
      ({ assert }) => assert({ iss: ODD, sub: ODD }),
      { claim: 'iss' },
    ],
    ['with an audience that is not a string', ({ assert }) => assert({ aud: [ODD] }), { claim: 'aud' }],
    ['that is not a JWT', () => 'nonsense', { reason: 'it is not a JWT' }],
    ['of three empty parts', () => '..', { reason: 'it is not a JWT' }],
  ])(
    'is answered with 401 and recorded with its reason: %s',
    async ([_name, make, expected], { keys, machine, assert, present, readDiagnostics, issuer }) => {
      const assertion = await make({ assert, keys, machine, issuer })
      const answer = await present(assertion, { client_id: machine.id })
      expect(answer).toMatchObject({ status: 401, body: INVALID_CLIENT })
      expect(answer.headers.get('www-authenticate')).toBeNull()
      const diagnostics = await readDiagnostics(answer)
      expect(diagnostics).toMatchObject(expected)
      expect(JSON.stringify(diagnostics)).not.toContain(assertion.split('.')[2] || 'eyJ')
    },
  )

  test('is rejected with a sub that is not a string', async ({ assert, present }) => {
    const answer = await present(await assert({ sub: ODD }))
    expect(answer).toMatchObject({ status: 401, body: INVALID_CLIENT })
  })

  test('is rejected with another client_assertion_type (RFC 7521, section 4.2)', async ({
    assert,
    present,
  }) => {
    for (const type of ['urn:ietf:params:oauth:client-assertion-type:saml2-bearer', ''])
      expect(await present(await assert(), { client_assertion_type: type })).toMatchObject({
        status: 401,
        body: INVALID_CLIENT,
      })
  })

  test('is rejected from a client without keys', async ({ newClient, keys, present, issuer }) => {
    for (const fields of [MACHINE, { appType: 'single-page' }]) {
      const { id } = await newClient(fields)
      const answer = await present(await makeAssertion(keys.ec, { clientId: id, audience: issuer }))
      expect(answer).toMatchObject({ status: 401, body: INVALID_CLIENT })
    }
  })

  test('is rejected by the key of another client, and for an unknown client', async ({
    newClient,
    keys,
    present,
    issuer,
  }) => {
    const { id } = await newClient({ ...MACHINE, jwks: { keys: [keys.stranger.jwk] } })
    for (const clientId of [id, 'client_unknown'])
      expect(await present(await makeAssertion(keys.ec, { clientId, audience: issuer }))).toMatchObject({
        status: 401,
        body: INVALID_CLIENT,
      })
  })

  test('by the same key in another tenant', async ({ app, assert }) => {
    const elsewhere = await newTenant()
    const form = {
      grant_type: 'client_credentials',
      client_assertion_type: JWT_BEARER,
      client_assertion: await assert({ aud: `http://localhost:3000/${elsewhere}` }),
    }
    expect(await tokenRequest(app, elsewhere, null, form)).toMatchObject({
      status: 401,
      body: INVALID_CLIENT,
    })
  })

  test('is rejected together with another authentication method (RFC 6749, section 2.3)', async ({
    machine,
    assert,
    send,
  }) => {
    const both = { client_id: machine.id, client_secret: machine.secret }
    const form = { client_assertion_type: JWT_BEARER, client_assertion: await assert() }
    for (const answer of [
      await send({ ...both, ...form }),
      await send(form, { authorization: basic(machine) }),
    ])
      expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })

  test('is rejected once the client has other keys', async ({ tenant, newClient, keys, present, issuer }) => {
    const key = await makeKey()
    const client = await newClient({ ...MACHINE, jwks: { keys: [key.jwk] } })
    const by = () => makeAssertion(key, { clientId: client.id, audience: issuer })
    expect(await present(await by())).toMatchObject({ status: 200 })
    await updateClient(createPlatformCtx(tenant), client.id, { jwks: { keys: [keys.stranger.jwk] } })
    expect(await present(await by())).toMatchObject({ status: 401 })
  })
})
