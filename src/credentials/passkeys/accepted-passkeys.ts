import type { Ctx } from '../../context/context.ts'
import type { AcceptedPasskeys } from '../../pages/parts/passkey-signal.pages.tsx'
import { deriveUserHandle, RP_ID } from './relying-party.ts'

/**
 * The passkeys of a user that are accepted, for signalAllAcceptedCredentials (WebAuthn Level 3, section 5.1.10.3).
 * Only for a user who has just signed in. One statement.
 */
export async function findAcceptedPasskeys({ tenant, db }: Ctx, userId: string): Promise<AcceptedPasskeys> {
  const accepted = await db.prisma.credential.findMany({
    where: { tenantId: tenant, userId, type: 'public-key', externalId: { not: null } },
    select: { externalId: true },
    orderBy: { id: 'asc' },
  })
  return {
    rpId: RP_ID,
    userId: Buffer.from(deriveUserHandle(tenant, userId)).toString('base64url'),
    allAcceptedCredentialIds: accepted.flatMap(({ externalId }) => externalId ?? []),
  }
}
