/**
 * Signature algorithms by kind of key (RFC 7518, section 3.1; RFC 8037; RFC 9864). Other kinds of keys are
 * not accepted.
 */
export const ALGORITHMS_BY_KEY_KIND = {
  prime256v1: ['ES256'],
  secp384r1: ['ES384'],
  secp521r1: ['ES512'],
  rsa: ['RS256', 'PS256'],
  ed25519: ['EdDSA', 'Ed25519'],
} as const satisfies Record<string, readonly string[]>

/** Algorithms that client assertions may be signed with. */
export const ASSERTION_ALGORITHMS = Object.values(ALGORITHMS_BY_KEY_KIND).flat()

/** The algorithms that FAPI 2.0 permits (FAPI 2.0 Security Profile, section 5.4.1); EdDSA has two names. */
export const FAPI_ALGORITHMS = ['PS256', 'ES256', 'EdDSA', 'Ed25519']

/** The algorithms that a client may use for its assertions and proofs. */
export const listClientAlgorithms = ({
  requireFapiAlgorithms,
}: {
  requireFapiAlgorithms: boolean
}): readonly string[] => (requireFapiAlgorithms ? FAPI_ALGORITHMS : ASSERTION_ALGORITHMS)

/** Members of private and symmetric keys (RFC 7518, section 6). */
export const PRIVATE_JWK_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
