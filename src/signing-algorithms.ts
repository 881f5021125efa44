/** Algorithms of the tokens that tenants sign (RFC 7518, RFC 8037); the first unless a client asks for another. */
export const SIGNING_ALGORITHMS = ['ES256', 'RS256', 'ES384', 'EdDSA'] as const
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number]
/** Every tenant has a key of it from the beginning. Access tokens are always signed by it. */
export const DEFAULT_SIGNING_ALGORITHM: SigningAlgorithm = 'ES256'
