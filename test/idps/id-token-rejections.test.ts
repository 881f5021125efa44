import { exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect } from 'vitest'
import { test as base, linkIssue, nowInSeconds } from '../support/idp-links.ts'
import type { Json } from '../support/json.ts'
import { startUpstream } from '../support/upstream.ts'

/** With expectRejected: returns the answer to a token, which must not store a link. */
const test = base.extend(
  'expectRejected',
  ({ writers, newUserId, newIdp, findStored }) =>
    async (idToken: string, fields: object = {}) => {
      const userId = await newUserId()
      const answer = await writers.REST.link(userId, await newIdp(fields), { idToken })
      expect(await findStored(userId)).toEqual([])
      expect(JSON.stringify(answer)).not.toContain(idToken)
      return answer
    },
)

describe('an ID token', () => {
  const NOT_SIGNED = linkIssue('idToken', 'is not signed by the provider')
  const OTHER_CLIENT = linkIssue('idToken', 'was issued to another client')

  test('is rejected when it was issued to another client', async ({ upstream, claims, expectRejected }) => {
    const { idToken } = await upstream.tokensFor('eve', { clientId: 'another' })
    expect(await expectRejected(idToken)).toEqual(OTHER_CLIENT)
    expect(await expectRejected(await upstream.sign(claims('eve', { aud: ['another', 'third'] })))).toEqual(
      OTHER_CLIENT,
    )
    for (const azp of [undefined, 'another'])
      expect(
        await expectRejected(await upstream.sign(claims('eve', { aud: ['vestibule', 'another'], azp }))),
      ).toEqual(OTHER_CLIENT)
  })

  test('is rejected when it is expired, has no expiry or is not yet valid', async ({
    upstream,
    claims,
    expectRejected,
  }) => {
    expect(
      await expectRejected(
        await upstream.sign(claims('eve', { iat: nowInSeconds() - 600, exp: nowInSeconds() - 120 })),
      ),
    ).toEqual(linkIssue('idToken', 'has expired'))
    expect(await expectRejected(await upstream.sign(claims('eve', { exp: undefined })))).toEqual(
      linkIssue('idToken', 'has a wrong or no claim exp'),
    )
    expect(await expectRejected(await upstream.sign(claims('eve', { nbf: nowInSeconds() + 600 })))).toEqual(
      linkIssue('idToken', 'has a wrong or no claim nbf'),
    )
  })

  test('is rejected when it names another issuer or is signed by its keys', async ({
    upstream,
    claims,
    expectRejected,
  }) => {
    const other = await startUpstream()
    try {
      const { idToken } = await other.tokensFor('eve')
      expect(await expectRejected(idToken)).toEqual(NOT_SIGNED)
      expect(await expectRejected(await other.sign(claims('eve')))).toEqual(NOT_SIGNED)
      expect(await expectRejected(await upstream.sign(claims('eve', { iss: other.issuer })))).toEqual(
        linkIssue('idToken', 'was issued by another issuer'),
      )
      expect(await expectRejected(await upstream.sign(claims('eve', { iss: undefined })))).toEqual(
        linkIssue('idToken', 'has a wrong or no claim iss'),
      )
    } finally {
      other.close()
    }
  })

  test('is rejected when it is unsigned, truncated or signed by HMAC under the public key or the client secret', async ({
    upstream,
    claims,
    expectRejected,
  }) => {
    const jwk = upstream.publicJwks[0] as Json
    const hmac = (secret: string) =>
      new SignJWT(claims('eve'))
        .setProtectedHeader({ alg: 'HS256', kid: jwk.kid })
        .sign(new TextEncoder().encode(secret.padEnd(32)))
    const pem = await exportSPKI((await importJWK(jwk)) as CryptoKey)
    const { idToken } = await upstream.tokensFor('eve')
    const [header = '', body = '', signature = ''] = idToken.split('.')
    for (const forged of [
      new UnsecuredJWT(claims('eve')).encode(),
      await hmac(pem),
      await hmac(JSON.stringify(jwk)),
      await hmac(upstream.client.clientSecret),
      `${header}.${body}.`,
      `${header}.${Buffer.from(JSON.stringify(claims('victim'))).toString('base64url')}.${signature}`,
      'no token',
      `${header}.${body}`,
    ])
      expect(await expectRejected(forged)).toEqual(NOT_SIGNED)
  })

  test('is rejected when it is signed by a key from its own header', async ({
    upstream,
    claims,
    expectRejected,
  }) => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const jwk = await exportJWK(publicKey)
    for (const header of [
      { jwk },
      { jku: `${upstream.issuer}/evil` },
      { kid: 'upstream-ES256' },
      { kid: 'unknown' },
    ]) {
      const forged = await new SignJWT(claims('eve'))
        .setProtectedHeader({ alg: 'ES256', ...header } as Json)
        .sign(privateKey)
      expect(await expectRejected(forged)).toEqual(NOT_SIGNED)
    }
    expect(upstream.asked).not.toContain('/evil')
  })

  test('is rejected when it is signed by another algorithm than idTokenSigningAlg', async ({
    upstream,
    expectRejected,
  }) => {
    const { idToken } = await upstream.tokensFor('eve')
    expect(await expectRejected(idToken, { idTokenSigningAlg: 'ES256' })).toEqual(NOT_SIGNED)
  })

  test('is rejected when it is an access token in JWT format', async ({
    upstream,
    claims,
    expectRejected,
  }) => {
    expect(await expectRejected(await upstream.sign(claims('eve'), { typ: 'at+jwt' }))).toEqual(
      linkIssue('idToken', 'is not an ID token'),
    )
  })

  test('is rejected when the provider still needs fields', async ({ upstream, claims, expectRejected }) => {
    const idToken = await upstream.sign(claims('eve'))
    expect(await expectRejected(idToken, { clientId: null, issuer: null })).toEqual(
      linkIssue('idpId', 'is a provider that still needs clientId, issuer'),
    )
    expect(await expectRejected(idToken, { clientId: null })).toEqual(
      linkIssue('idpId', 'is a provider that still needs clientId'),
    )
    expect(await expectRejected(idToken, { issuer: null })).toEqual(
      linkIssue('idpId', 'is a provider that still needs issuer'),
    )
  })
})
