import { createHash, generateKeyPair, type KeyObject, type KeyPairKeyObjectResult, sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { SigningAlgorithm } from './signing-algorithms.ts'

/** Runs in the thread pool: an RSA key takes 0.1 s and more. */
const generateKeyPairAsync = promisify(generateKeyPair)

type AlgorithmFunctions = {
  createKeyPair: () => Promise<KeyPairKeyObjectResult>
  /** Hashes the message before it is signed; null for EdDSA, which hashes by itself. */
  digest: 'sha256' | 'sha384' | null
  /**
   * The hash function of the algorithm, for at_hash (OIDC Core, section 3.1.3.6); SHA-512 for Ed25519 (RFC
   * 8032, 5.1).
   */
  hash: 'sha256' | 'sha384' | 'sha512'
}

const ALGORITHMS: Record<SigningAlgorithm, AlgorithmFunctions> = {
  ES256: {
    createKeyPair: () => generateKeyPairAsync('ec', { namedCurve: 'P-256' }),
    digest: 'sha256',
    hash: 'sha256',
  },
  RS256: {
    createKeyPair: () => generateKeyPairAsync('rsa', { modulusLength: 2048 }),
    digest: 'sha256',
    hash: 'sha256',
  },
  ES384: {
    createKeyPair: () => generateKeyPairAsync('ec', { namedCurve: 'P-384' }),
    digest: 'sha384',
    hash: 'sha384',
  },
  EdDSA: { createKeyPair: () => generateKeyPairAsync('ed25519', {}), digest: null, hash: 'sha512' },
}

/** Creates a key pair for an algorithm: P-256, RSA of 2048 bits, P-384 or Ed25519. */
export const createKeyPair = (alg: SigningAlgorithm): Promise<KeyPairKeyObjectResult> =>
  ALGORITHMS[alg].createKeyPair()

/**
 * Computes the signature of a JWS, in base64url (RFC 7518, section 3; RFC 8037, section 3.1). Synchronous
 * node:crypto takes half the processor time of jose (docs/decisions/0134).
 */
export const signInput = (alg: SigningAlgorithm, key: KeyObject, input: string): string =>
  sign(ALGORITHMS[alg].digest, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')

/**
 * Computes `at_hash` for an ID token signed with `alg`: the left half of the token's hash (OIDC Core, section
 * 3.1.3.6).
 */
export function computeHalfHash(alg: SigningAlgorithm, token: string): string {
  const hash = createHash(ALGORITHMS[alg].hash).update(token).digest()
  return hash.subarray(0, hash.length / 2).toString('base64url')
}
