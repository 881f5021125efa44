import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { IdTokenAlgorithm } from './provider-types.ts'

const EC_ALGORITHMS: Record<string, IdTokenAlgorithm> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
}
/** RFC 7518, section 3.3: shorter keys must not be used. */
const MIN_RSA_BITS = 2048

/** Lists the algorithms that a public key verifies; none for a key that is too weak or of another type. */
export function listAlgorithms({
  asymmetricKeyType: type,
  asymmetricKeyDetails: details,
}: KeyObject): IdTokenAlgorithm[] {
  if (type === 'ec') {
    const alg = EC_ALGORITHMS[details?.namedCurve ?? '']
    return alg ? [alg] : []
  }
  if (type === 'ed25519') return ['EdDSA', 'Ed25519']
  if (type === 'rsa' && (details?.modulusLength ?? 0) >= MIN_RSA_BITS)
    return ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']
  return []
}

/**
 * Parses a key in PEM: an X.509 certificate, or the SubjectPublicKeyInfo that is part of one. The validity of
 * a certificate is ignored: the key is trusted because an administrator pinned it. Null for anything else,
 * private keys included.
 */
export function parsePublicKey(pem: string): { key: KeyObject; algorithms: IdTokenAlgorithm[] } | null {
  if (!/^\s*-----BEGIN (CERTIFICATE|PUBLIC KEY)-----/.test(pem)) return null
  try {
    const key = createPublicKey(pem)
    return { key, algorithms: listAlgorithms(key) }
  } catch {
    return null // not PEM
  }
}

/**
 * Parses the private key that Apple issues to sign client secrets with (PKCS #8, P-256); null for anything
 * else.
 */
export function parseApplePrivateKey(pem: string): KeyObject | null {
  try {
    const key = createPrivateKey(pem)
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null
  } catch {
    return null // not a private key in PEM
  }
}
