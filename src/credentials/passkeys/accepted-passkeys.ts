import { Handle } from '../../database/handle.ts'
import type { AcceptedPasskeys } from '../../pages/parts/passkey-signal.pages.tsx'
import { selectAcceptedPasskeys } from './accepted-passkeys.sql.ts'
import { deriveUserHandle, RP_ID } from './relying-party.ts'

/**
 * The passkeys of a user that are accepted, for signalAllAcceptedCredentials (WebAuthn Level 3, section 5.1.10.3).
 * Only for a user who has just signed in. One statement.
 */
export const findAcceptedPasskeys = async (tenant: string, userId: string): Promise<AcceptedPasskeys> => ({
  rpId: RP_ID,
  userId: Buffer.from(deriveUserHandle(tenant, userId)).toString('base64url'),
  allAcceptedCredentialIds: await selectAcceptedPasskeys(new Handle({ tenant }), userId),
})
