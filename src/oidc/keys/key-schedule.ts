import { platformCtx, SYSTEM_TENANT } from '../../ctx.ts'
import { inTransaction, sql } from '../../db.ts'
import { log } from '../../log.ts'
import { startRepeated } from '../../repeated.ts'
import { holdTenant } from '../../tenants/tenants.sql.ts'
import { after } from '../../time.ts'
import { addKeys, PUBLISHED_BEHIND_SECONDS, tellAll } from './key-rotation.ts'
import { retireSigningKeys, selectAlgorithms, selectTenantsWithDueKeys } from './keys.sql.ts'

const INTERVAL_MS = 60_000
/** Tenants whose keys one run replaces at most; what is left is for the next one. */
const BATCH = 500
/** Each key signs for so long, then its successor does. */
const SIGNS_SECONDS = 90 * 86_400
/** A successor by schedule is published so long before: longer than anybody caches keys. */
const PUBLISHED_AHEAD_SECONDS = 86_400

/** Makes successors of a tenant's keys that have signed since before `dueBefore`; returns how many. */
async function succeedDueKeys(tenant: string, now: Date, dueBefore: Date, activeAt: Date): Promise<number> {
  const made = await inTransaction(async (tx) => {
    await holdTenant(tx, tenant)
    const algorithms = await selectAlgorithms(tx, tenant, now)
    const due = algorithms.filter((known) => known.activeAt <= dueBefore).map(({ alg }) => alg)
    if (due.length === 0) return 0
    await retireSigningKeys(tx, tenant, due, after(activeAt, PUBLISHED_BEHIND_SECONDS))
    await addKeys(tx, platformCtx(tenant), due, activeAt)
    return due.length
  })
  if (made > 0) tellAll(tenant)
  return made
}

/**
 * Rotation by schedule, of up to `limit` tenants: makes successors of keys that have signed for almost 90 days, and
 * publishes them a day ahead. Any number of processes may do so at once: each key gets one successor. A tenant where that
 * fails keeps none of the others waiting. Returns how many were made.
 */
export async function rotateDueKeys(now: Date, limit: number): Promise<number> {
  const activeAt = after(now, PUBLISHED_AHEAD_SECONDS)
  const dueBefore = after(activeAt, -SIGNS_SECONDS)
  let total = 0
  for (const tenant of await selectTenantsWithDueKeys(sql, SYSTEM_TENANT, dueBefore, limit))
    try {
      total += await succeedDueKeys(tenant, now, dueBefore, activeAt)
    } catch (error) {
      log.error(
        { tenant, err: error instanceof Error ? error.message : String(error) },
        'keys were not rotated',
      )
    }
  return total
}

/** Rotates keys that are due about once a minute until the returned function is called. */
export const startKeyRotation = (): (() => void) =>
  startRepeated('key rotation', INTERVAL_MS, () => rotateDueKeys(new Date(), BATCH))
