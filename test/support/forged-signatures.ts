import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto'
import type { JWK } from 'jose'
import { expect } from 'vitest'
import { listPublicKeys } from '../../src/keys/keys.ts'
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from '../../src/keys/signing-algorithms.ts'
import { test as base, REJECTED, REJECTED_HINT, readSigningKey, type SigningKey } from './forgeries.ts'
import { makeClient } from './protocol.ts'

/** Creates a key that the tenant does not have, by algorithm. */
export const NEW_KEYS: Record<SigningAlgorithm, () => KeyPairKeyObjectResult> = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
}

type Forge = (typ: string, payload: object) => string

/** With the keys of a tenant, and forgeries made from them. */
export const test = base
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
