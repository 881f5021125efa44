import type { Ctx } from '../../context/context.ts'
import type { Tx } from '../../database/handle.ts'
import { createEvent } from '../../events/create-event.ts'
import { recordEvents } from '../../events/log.ts'
import type { Device } from '../credentials.fields.ts'
import { toDeviceRow } from '../device.ts'
import type { VerifiedPasskey } from './registration.ts'

/** What the export of another system does not say; the first use says it. */
type UnknownOfImport = 'backupEligible' | 'backedUp' | 'aaguid'

/** Passkeys of a user. Each page that asks for one lists all of them. */
export const MAX_PASSKEYS = 100

export type NewPasskey = {
  passkey: Omit<VerifiedPasskey, UnknownOfImport> & {
    [Name in UnknownOfImport]?: VerifiedPasskey[Name]
  } & { userHandle?: string }
  userId: string
  /** Null for an imported passkey. */
  device: Device | null
  byManagement: boolean
}

/**
 * Stores a passkey of a user, with its event, in the caller's transaction, which has locked the row of the user. False
 * when the user has `MAX_PASSKEYS`. A registered passkey violates the unique key.
 */
export async function insertPasskey(
  tx: Tx,
  ctx: Ctx,
  { passkey, userId, device, byManagement }: NewPasskey,
  now: Date,
): Promise<boolean> {
  const ofUser = { tenantId: tx.tenant, userId, type: 'public-key' }
  if ((await tx.prisma.credential.count({ where: ofUser })) >= MAX_PASSKEYS) return false
  await tx.prisma.credential.create({
    data: { ...ofUser, ...passkey, ...(device && toDeviceRow(device)), byManagement, createdAt: now },
  })
  await recordEvents(tx, ctx, [
    createEvent('credential.enrolled', { userId, credentialId: passkey.id }, { type: 'public-key' }),
  ])
  return true
}
