import { defineEnum } from '../schema/enums.ts'

/** Algorithms that tenants sign tokens with (RFC 7518, RFC 8037). */
export const SIGNING_ALGORITHM = defineEnum('SigningAlgorithm', 'A JWS algorithm (RFC 7518, RFC 8037).', {
  ES256: 'alg=ES256.',
  RS256: 'alg=RS256.',
  ES384: 'alg=ES384.',
  EdDSA: 'alg=EdDSA.',
})
export const SIGNING_ALGORITHMS = SIGNING_ALGORITHM.values
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number]
/**
 * Signs access tokens, and other tokens unless the client selects another algorithm. Every tenant has a key
 * of it.
 */
export const DEFAULT_SIGNING_ALGORITHM: SigningAlgorithm = 'ES256'
