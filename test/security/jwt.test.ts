import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import type { JWK } from 'jose'
import { describe, expect } from 'vitest'
import { listPublicKeys } from '../../src/keys/keys.ts'
import { newTenant } from '../support/actors.ts'
import {
  ACCEPTED,
  encode,
  macJwt,
  REJECTED,
  REJECTED_HINT,
  readSigningKey,
  signJwt,
  test,
} from '../support/forgeries.ts'

describe('an access token', () => {
  test('is accepted when the key of the tenant has signed it', async ({
    present,
    visit,
    header,
    claims,
    key,
  }) => {
    expect(await present(visit.accessToken)).toEqual(ACCEPTED)
    expect(await present(signJwt(header, claims, key.privateKey))).toEqual(ACCEPTED)
  })

  test.for(['none', 'None', 'NONE', 'nOnE', ''])(
    'is rejected with alg "%s", with and without a signature',
    async (alg, { present, visit, header, claims }) => {
      const input = `${encode({ ...header, alg })}.${encode(claims)}`
      for (const signature of ['', visit.accessToken.split('.')[2]])
        expect(await present(`${input}.${signature}`)).toEqual(REJECTED)
    },
  )

  test('is rejected with an HMAC under any form of the public key', async ({
    tenant,
    present,
    header,
    claims,
    key: { kid },
  }) => {
    const [jwk] = (await listPublicKeys(tenant)).keys as [JWK]
    const key = createPublicKey({ key: jwk, format: 'jwk' } as never)
    const secrets = [
      key.export({ format: 'pem', type: 'spki' }) as string,
      (key.export({ format: 'pem', type: 'spki' }) as string).trim(),
      key.export({ format: 'der', type: 'spki' }) as Buffer,
      JSON.stringify(jwk),
      Buffer.from(jwk.x ?? '', 'base64url'),
      jwk.x ?? '',
      kid,
      '',
    ]
    for (const alg of ['HS256', 'ES256', 'HS384'])
      for (const secret of secrets)
        expect(await present(macJwt({ ...header, alg }, claims, secret))).toEqual(REJECTED)
  })

  test('is rejected with a missing, unknown or malformed kid, or one of another tenant', async ({
    present,
    header,
    claims,
    key: { kid, privateKey },
  }) => {
    const other = await readSigningKey(await newTenant())
    const { kid: _, ...withoutKid } = header
    for (const bad of [
      withoutKid,
      { ...header, kid: 'unknown' },
      { ...header, kid: '' },
      { ...header, kid: null },
      { ...header, kid: [kid] },
      { ...header, kid: '__proto__' },
      { ...header, kid: `${kid}\u0000` },
      { ...header, kid: `../${kid}` },
      { ...header, kid: other.kid },
    ])
      expect(await present(signJwt(bad, claims, privateKey))).toEqual(REJECTED)
    // The issuer and kid of this tenant with the key of another tenant, and the kid and key of the other
    // tenant.
    expect(await present(signJwt(header, claims, other.privateKey))).toEqual(REJECTED)
    expect(await present(signJwt({ ...header, kid: other.kid }, claims, other.privateKey))).toEqual(REJECTED)
  })

  test('is rejected when it is signed by a key that it contains or refers to', async ({
    present,
    header,
    claims,
    key: { kid },
  }) => {
    const mine = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = { ...mine.publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }
    for (const extra of [
      { jwk },
      { jku: 'https://evil.example/jwks.json' },
      { x5u: 'https://evil.example/x5u' },
      { x5c: ['MIIB'] },
      { jwk, kid: undefined },
      { jwk, kid: 'mine' },
    ])
      expect(await present(signJwt({ ...header, ...extra }, claims, mine.privateKey))).toEqual(REJECTED)
  })

  test('is rejected with a critical extension or another algorithm of the key', async ({
    present,
    header,
    claims,
    key: { privateKey },
  }) => {
    const critical = [
      { crit: ['exp'], exp: 1 },
      { crit: ['b64'], b64: false },
    ]
    for (const extra of critical)
      expect(await present(signJwt({ ...header, ...extra }, claims, privateKey))).toEqual(REJECTED)
    for (const alg of ['ES384', 'RS256', 'PS256', 'EdDSA'])
      expect(await present(signJwt({ ...header, alg }, claims, privateKey))).toEqual(REJECTED)
  })

  test('is rejected with another typ, iss, aud or time, or without one of them', async ({
    tenant,
    present,
    party,
    header,
    claims,
    key: { privateKey },
  }) => {
    for (const typ of ['JWT', 'at+JWT2', 'logout+jwt', 'application/jwt', undefined])
      expect(await present(signJwt({ ...header, typ }, claims, privateKey))).toEqual(REJECTED)
    const now = Math.floor(Date.now() / 1000)
    const { iss: _iss, ...withoutIssuer } = claims
    const { aud: _aud, ...withoutAudience } = claims
    for (const payload of [
      withoutIssuer,
      withoutAudience,
      { ...claims, iss: `${claims.iss}/` },
      { ...claims, iss: 'http://localhost:3000/system' },
      { ...claims, iss: [claims.iss] },
      { ...claims, aud: [] },
      { ...claims, aud: party.id },
      { ...claims, aud: `http://localhost:3000/${tenant}` },
      { ...claims, exp: now - 1 },
      { ...claims, nbf: now + 600 },
      { ...claims, exp: 'never' },
    ])
      expect(await present(signJwt(header, payload, privateKey))).toEqual(REJECTED)
  })

  test('is rejected when a claim is changed after the signature', async ({
    present,
    visit,
    claims,
    party,
  }) => {
    const [header = '', , signature = ''] = visit.accessToken.split('.')
    for (const change of [{ sub: party.id }, { scope: 'openid users:write' }, { exp: 9_999_999_999 }])
      expect(await present(`${header}.${encode({ ...claims, ...change })}.${signature}`)).toEqual(REJECTED)
  })

  test('is rejected as an ID token hint', async ({ oidc, visit, presentIdToken }) => {
    expect(await presentIdToken(visit.accessToken)).toEqual(REJECTED_HINT)
    expect((await oidc.userinfo(visit.accessToken)).status).toBe(200)
  })
})

describe('an ID token', () => {
  test('is rejected as an access token, even with every claim of one', async ({
    present,
    visit,
    header,
    claims,
    idClaims,
    key: { privateKey },
  }) => {
    expect(await present(visit.idToken)).toEqual(REJECTED)
    const both = { ...claims, ...idClaims }
    expect(await present(signJwt({ ...header, typ: 'JWT' }, both, privateKey))).toEqual(REJECTED)
  })

  test('is rejected as a hint when it is forged, and ends no session', async ({
    oidc,
    visit,
    idClaims,
    key: { kid, privateKey },
    presentIdToken,
  }) => {
    const mine = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const header = { alg: 'ES256', typ: 'JWT', kid }
    for (const forged of [
      `${encode({ ...header, alg: 'none' })}.${encode(idClaims)}.`,
      signJwt(header, idClaims, mine.privateKey),
      signJwt({ ...header, jwk: mine.publicKey.export({ format: 'jwk' }) }, idClaims, mine.privateKey),
      signJwt({ ...header, kid: undefined }, idClaims, privateKey),
      signJwt(header, { ...idClaims, iss: 'http://localhost:3000/system' }, privateKey),
    ])
      expect(await presentIdToken(forged)).toEqual(REJECTED_HINT)
    expect((await oidc.userinfo(visit.accessToken)).status).toBe(200)
  })
})

describe('the key set', () => {
  test('names the algorithm, use and kid of every key', async ({ tenant, key: _ }) => {
    for (const key of (await listPublicKeys(tenant)).keys)
      expect(key).toMatchObject({ alg: expect.any(String), use: 'sig', kid: expect.any(String) })
  })
})
