import { createPublicKey, generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto'
import type { JWK } from 'jose'
import { describe, expect } from 'vitest'
import { listPublicKeys } from '../../src/keys/keys.ts'
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from '../../src/keys/signing-algorithms.ts'
import {
  ACCEPTED,
  test as base,
  encode,
  macJwt,
  REJECTED,
  REJECTED_HINT,
  readSigningKey,
  type SigningKey,
  signJwt,
} from '../support/forgeries.ts'
import { makeClient } from '../support/protocol.ts'
import { hasServices } from '../support/services.ts'

/** Creates a key that the tenant does not have, by algorithm. */
const NEW_KEYS: Record<SigningAlgorithm, () => KeyPairKeyObjectResult> = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
}

type Forge = (typ: string, payload: object) => string

/** With the keys of a tenant, and forgeries made from them. */
const test = base
  /** The tenant's key of each algorithm: all exist, so that each can be confused with the others. */
  .extend('keys', { scope: 'file' }, async ({ tenant }) => {
    const keys = {} as Record<SigningAlgorithm, SigningKey & { jwk: JWK }>
    for (const alg of SIGNING_ALGORITHMS) {
      await makeClient(tenant, { idTokenSigningAlg: alg })
      const key = await readSigningKey(tenant, alg)
      const jwk = (await listPublicKeys(tenant)).keys.find(({ kid }) => kid === key.kid) as JWK
      keys[alg] = { ...key, jwk }
    }
    return keys
  })
  /** Presents a forgery as an access token and as an ID token: both must be rejected everywhere. */
  .extend(
    'expectRejected',
    { scope: 'file' },
    ({ present, presentIdToken, claims, idClaims }) =>
      async (forge: Forge) => {
        expect(await present(forge('at+jwt', claims))).toEqual(REJECTED)
        expect(await presentIdToken(forge('JWT', idClaims))).toEqual(REJECTED_HINT)
      },
  )

describe.runIf(hasServices)('a signing key', () => {
  test.for(SIGNING_ALGORITHMS)(
    'of %s verifies the tokens that it signed',
    async (alg, { keys, present, claims, idClaims, sendHint }) => {
      const { kid, privateKey } = keys[alg]
      expect(await present(signJwt({ alg, typ: 'at+jwt', kid }, claims, privateKey, alg))).toEqual(ACCEPTED)
      const hint = signJwt({ alg, typ: 'JWT', kid }, idClaims, privateKey, alg)
      expect(await sendHint(hint)).toBeUndefined()
    },
  )

  test.for(SIGNING_ALGORITHMS)(
    'of %s verifies no token without a signature or with an HMAC',
    async (alg, { keys, expectRejected }) => {
      const { kid, jwk } = keys[alg]
      for (const none of ['none', 'NONE', alg, ''])
        await expectRejected((typ, payload) => `${encode({ alg: none, typ, kid })}.${encode(payload)}.`)
      const publicKey = createPublicKey({ key: jwk, format: 'jwk' } as never)
      const secrets = [
        publicKey.export({ format: 'pem', type: 'spki' }) as string,
        publicKey.export({ format: 'der', type: 'spki' }) as Buffer,
        JSON.stringify(jwk),
        Buffer.from(jwk.n ?? jwk.x ?? '', 'base64url'),
        kid,
      ]
      for (const hmac of ['HS256', 'HS384', 'HS512', alg]) {
        const hash = /^HS/.test(hmac) ? `sha${hmac.slice(2)}` : 'sha256'
        for (const secret of secrets)
          await expectRejected((typ, payload) => macJwt({ alg: hmac, typ, kid }, payload, secret, hash))
      }
    },
  )

  test.for(SIGNING_ALGORITHMS)(
    'of %s verifies tokens with its own kid and algorithm only',
    async (alg, { keys, expectRejected }) => {
      const own = keys[alg]
      for (const kid of [undefined, 'unknown', `${own.kid} `])
        await expectRejected((typ, payload) => signJwt({ alg, typ, kid }, payload, own.privateKey, alg))
      for (const other of SIGNING_ALGORITHMS.filter((known) => known !== alg)) {
        const theirs = keys[other]
        // This key with the other kid, and the other key with this kid; the header names either algorithm.
        for (const named of [alg, other]) {
          await expectRejected((typ, payload) =>
            signJwt({ alg: named, typ, kid: theirs.kid }, payload, own.privateKey, alg),
          )
          await expectRejected((typ, payload) =>
            signJwt({ alg: named, typ, kid: own.kid }, payload, theirs.privateKey, other),
          )
        }
        // This key and this kid; the header names the other algorithm.
        await expectRejected((typ, payload) =>
          signJwt({ alg: other, typ, kid: own.kid }, payload, own.privateKey, alg),
        )
      }
      for (const unknown of ['PS256', 'RS384', 'ES512', 'ES256K', 'Ed25519', 'Ed448'])
        await expectRejected((typ, payload) =>
          signJwt({ alg: unknown, typ, kid: own.kid }, payload, own.privateKey, alg),
        )
    },
  )

  test.for(SIGNING_ALGORITHMS)(
    'of %s is not replaced by a key in the header of a token',
    async (alg, { keys, expectRejected }) => {
      const { kid } = keys[alg]
      const { privateKey, publicKey } = NEW_KEYS[alg]()
      const jwk = { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' }
      for (const extra of [{ jwk }, { jwk, kid: undefined }, { jku: 'https://evil.example/' }])
        await expectRejected((typ, payload) => signJwt({ alg, typ, kid, ...extra }, payload, privateKey, alg))
    },
  )
})
