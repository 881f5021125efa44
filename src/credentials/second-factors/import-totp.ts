import type { Ctx } from '../../context/context.ts'
import { newId, seal } from '../../core/crypto.ts'
import type { Tx } from '../../database/handle.ts'
import { createEvent } from '../../events/create-event.ts'
import { recordEvents } from '../../events/log.ts'
import { listCredentialTypes } from './second-factors.ts'
import { toTotpPurpose } from './totp.ts'

/**
 * Stores the authenticator app that a user had in another system, unless there is one. Also of a locked user, who uses it
 * after being unlocked.
 */
export async function importTotp(tx: Tx, ctx: Ctx, userId: string, key: string): Promise<boolean> {
  if ((await listCredentialTypes(tx, userId)).includes('totp')) return false
  const { prisma, tenant: tenantId } = tx
  const id = newId('cred')
  await prisma.credential.create({
    data: {
      tenantId,
      id,
      userId,
      type: 'totp',
      secret: seal(toTotpPurpose(tenantId, id), key),
      // No code was accepted here.
      lastStep: 0,
      byManagement: true,
    },
  })
  await recordEvents(tx, ctx, [
    createEvent('credential.enrolled', { userId, credentialId: id }, { type: 'totp' }),
  ])
  return true
}
