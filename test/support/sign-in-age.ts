import type { Prisma } from '../../src/generated/prisma/client.ts'
import { dbFor } from './database.ts'

/** Lets the sign-in of sessions, by passcode, be so many seconds ago. */
export async function ageSignIn(
  tenant: string,
  where: Prisma.SessionWhereInput,
  seconds: number,
): Promise<void> {
  const authenticatedAt = new Date(Date.now() - seconds * 1000)
  const proofs = [{ method: 'passcode', amr: ['otp'], at: authenticatedAt.toISOString() }]
  await dbFor(tenant).session.updateMany({
    where: { tenantId: tenant, endedAt: null, ...where },
    data: { authenticatedAt, proofs },
  })
}
