import { randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { sha256Base64url } from '../../src/core/crypto.ts'

/** A key pair of a client. */
export type ClientKey = {
  alg: string
  privateKey: CryptoKey
  publicKey: CryptoKey
  /** The public part, without `kid` and `alg`. */
  jwk: JWK
  /** RFC 7638. */
  thumbprint: string
}

export async function makeKey(alg = 'ES256'): Promise<ClientKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const { kty, crv, x, y, n, e } = await exportJWK(publicKey)
  const jwk = JSON.parse(JSON.stringify({ kty, crv, x, y, n, e })) as JWK
  return { alg, privateKey, publicKey, jwk, thumbprint: await calculateJwkThumbprint(jwk) }
}

export const nowSeconds = (): number => Math.floor(Date.now() / 1000)

/** Changes to a valid proof; a member that is undefined is left out. */
export type Changes = { header?: object; claims?: object }

const sign = (key: ClientKey, header: object, claims: object): Promise<string> =>
  new SignJWT(JSON.parse(JSON.stringify(claims)))
    .setProtectedHeader(JSON.parse(JSON.stringify({ alg: key.alg, ...header })))
    .sign(key.privateKey)

/** A client assertion (RFC 7523, section 3). */
export const makeAssertion = (
  key: ClientKey,
  { clientId, audience }: { clientId: string; audience: string | string[] },
  { header, claims }: Changes = {},
): Promise<string> =>
  sign(
    key,
    { ...header },
    {
      iss: clientId,
      sub: clientId,
      aud: audience,
      jti: randomUUID(),
      iat: nowSeconds(),
      exp: nowSeconds() + 60,
      ...claims,
    },
  )

/** A DPoP proof (RFC 9449, section 4.2). */
export const makeProof = (
  key: ClientKey,
  { method, url, nonce, token }: { method: string; url: string; nonce?: string; token?: string },
  { header, claims }: Changes = {},
): Promise<string> =>
  sign(
    key,
    { typ: 'dpop+jwt', jwk: key.jwk, ...header },
    {
      jti: randomUUID(),
      htm: method,
      htu: url,
      iat: nowSeconds(),
      nonce,
      ...(token !== undefined && { ath: sha256Base64url(token) }),
      ...claims,
    },
  )

/** An unsecured JWT (RFC 7519, section 6.1), or one with any given signature. */
export const unsigned = (header: object, claims: object, signature = ''): string =>
  `${[header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.${signature}`
