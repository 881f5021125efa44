import { sha256 } from '../../core/crypto.ts'
import { env } from '../../core/env.ts'

/** The RP ID of the credentials of all tenants (WebAuthn Level 3, section 5.4.2): they share one host. */
export const RP_ID = new URL(env.baseUrl).hostname
/** The origins whose pages may create passkeys (WebAuthn Level 3, section 5.11). Sign-ins are at the first alone. */
export const REGISTRATION_ORIGINS: readonly string[] = [...new Set([env.baseUrl, ...env.passkeyOrigins])]
/** ES256, EdDSA and RS256, independent of the runtime, because another process may verify the signatures. */
export const COSE_ALGORITHMS = [-7, -8, -257]
/** Time for the user to find a security key or a phone. */
export const CEREMONY_TIMEOUT_MS = 300_000

/**
 * The user handle includes the tenant, so that the passkey of one tenant does not replace that of another.
 */
export const deriveUserHandle = (tenant: string, userId: string) =>
  new Uint8Array(sha256(`webauthn:${tenant}:${userId}`))
