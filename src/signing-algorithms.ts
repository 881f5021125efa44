/** Algorithms of the tokens that tenants sign (RFC 7518, RFC 8037); the first unless a client asks for another. */
export const SIGNING_ALGORITHMS = ['ES256', 'RS256', 'ES384', 'EdDSA'] as const
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number]
