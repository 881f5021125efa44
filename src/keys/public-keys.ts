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

/** Members of private and symmetric keys (RFC 7518, section 6). */
export const PRIVATE_JWK_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
