/**
 * Kinds of credentials. `public-key` is of the Web Authentication API (PublicKeyCredentialType): passkeys and
 * security keys. The others are second factors: an authenticator app (RFC 6238), and a set of recovery codes.
 */
export const CREDENTIAL_TYPES = ['public-key', 'totp', 'recovery-codes'] as const
export type CredentialType = (typeof CREDENTIAL_TYPES)[number]
/** The kinds of which a user has one at most. */
export type SecondFactorType = Exclude<CredentialType, 'public-key'>
