/** Algorithms that tenants sign tokens with (RFC 7518, RFC 8037). */
export const SIGNING_ALGORITHMS = ['ES256', 'RS256', 'ES384', 'EdDSA'] as const
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number]
/**
 * Signs access tokens, and other tokens unless the client selects another algorithm. Every tenant has a key
 * of it.
 */
export const DEFAULT_SIGNING_ALGORITHM: SigningAlgorithm = 'ES256'
