import { createHash, generateKeyPair, type KeyObject, type KeyPairKeyObjectResult, sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { SigningAlgorithm } from '../../signing-algorithms.ts'

/** In a thread of its own: an RSA key takes a tenth of a second and more. */
const generate = promisify(generateKeyPair)

type Algorithm = {
  makeKeyPair: () => Promise<KeyPairKeyObjectResult>
  /** What the message is hashed with before it is signed; null where the signature does that by itself (EdDSA). */
  digest: 'sha256' | 'sha384' | null
  /** The hash of the algorithm, for hashes of tokens (OIDC Core, section 3.1.3.6). Ed25519's is SHA-512 (RFC 8032, 5.1). */
  hash: 'sha256' | 'sha384' | 'sha512'
}

const ALGORITHMS: Record<SigningAlgorithm, Algorithm> = {
  ES256: { makeKeyPair: () => generate('ec', { namedCurve: 'P-256' }), digest: 'sha256', hash: 'sha256' },
  RS256: { makeKeyPair: () => generate('rsa', { modulusLength: 2048 }), digest: 'sha256', hash: 'sha256' },
  ES384: { makeKeyPair: () => generate('ec', { namedCurve: 'P-384' }), digest: 'sha384', hash: 'sha384' },
  EdDSA: { makeKeyPair: () => generate('ed25519', {}), digest: null, hash: 'sha512' },
}

/** A new pair of keys for an algorithm: P-256, RSA of 2048 bits, P-384 or Ed25519. */
export const makeKeyPair = (alg: SigningAlgorithm): Promise<KeyPairKeyObjectResult> =>
  ALGORITHMS[alg].makeKeyPair()

/**
 * The signature of a JWS (RFC 7518, section 3; RFC 8037, section 3.1). By synchronous node:crypto, which costs a third of
 * what WebCrypto's thread hop does; test/oidc verifies the results with jose.
 */
export const signWith = (alg: SigningAlgorithm, key: KeyObject, input: string): string =>
  sign(ALGORITHMS[alg].digest, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')

/** The left half of a token's hash, as at_hash has it in an ID token that is signed by `alg` (OIDC Core, section 3.1.3.6). */
export function halfHash(alg: SigningAlgorithm, token: string): string {
  const hash = createHash(ALGORITHMS[alg].hash).update(token).digest()
  return hash.subarray(0, hash.length / 2).toString('base64url')
}
