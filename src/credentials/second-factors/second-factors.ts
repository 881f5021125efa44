import type { Ctx } from '../../context/context.ts'
import { NotFound, UserLocked } from '../../core/errors.ts'
import type { Db, Tx } from '../../database/handle.ts'
import { createEvent } from '../../events/create-event.ts'
import { recordEvents } from '../../events/log.ts'
import type { SecondFactorType } from '../../model/credential-types.ts'
import { announceAccountChange } from '../../users/deletion/account-notices.ts'
import { lockUserRow } from '../../users/lock-user.sql.ts'

/** A second factor as it is stored. */
export type NewSecondFactor = {
  id: string
  userId: string
  type: SecondFactorType
  secret: string | null
  lastStep: number | null
  codeHashes: Uint8Array<ArrayBuffer>[]
}

/** The types of credentials that a user has. */
export async function listCredentialTypes({ prisma, tenant }: Db, userId: string): Promise<string[]> {
  const where = { tenantId: tenant, userId }
  return (await prisma.credential.groupBy({ by: 'type', where })).map(({ type }) => type)
}

/** Runs after the row of the user was locked; may throw. */
type Check = (tx: Tx) => Promise<void>

/**
 * Stores a second factor of a user instead of the earlier one of its type, with the events, inside the caller's
 * transaction. `isStored` is false when it was stored before. Throws NotFound and UserLocked.
 */
export async function insertSecondFactor(
  tx: Tx,
  ctx: Ctx,
  factor: NewSecondFactor,
  now: Date,
  check: Check = async () => {},
): Promise<{ isStored: boolean; isReplacement: boolean }> {
  const { id, userId, type } = factor
  const user = await lockUserRow(tx, userId)
  if (!user) throw new NotFound('user')
  if (user.locked) throw new UserLocked()
  await check(tx)
  const { tenant: tenantId, prisma } = tx
  const earlier = { tenantId, userId, type, id: { not: id } }
  const replaced = await prisma.credential.findMany({ where: earlier, select: { id: true } })
  if (replaced.length > 0) await prisma.credential.deleteMany({ where: earlier })
  const row = { ...factor, tenantId, createdAt: now }
  const { count } = await prisma.credential.createMany({ data: [row], skipDuplicates: true })
  if (count > 0)
    await recordEvents(tx, ctx, [
      ...replaced.map((former) =>
        createEvent('credential.revoked', { userId, credentialId: former.id }, { type }),
      ),
      createEvent('credential.enrolled', { userId, credentialId: id }, { type }),
    ])
  return { isStored: count > 0, isReplacement: replaced.length > 0 }
}

/** Stores a second factor as insertSecondFactor does, and announces it. False when it was stored before. */
export async function storeSecondFactor(
  ctx: Ctx,
  factor: NewSecondFactor,
  now: Date,
  check?: Check,
): Promise<boolean> {
  const { userId, type } = factor
  const { isStored, isReplacement } = await ctx.db.transaction((tx) =>
    insertSecondFactor(tx, ctx, factor, now, check),
  )
  // The first recovery codes come with the app, which was announced.
  if (isStored && (type === 'totp' || isReplacement)) announceAccountChange(ctx, userId, `${type}-added`, now)
  return isStored
}
