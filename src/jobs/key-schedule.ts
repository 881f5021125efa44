import { createPlatformCtx } from '../context/context.ts'
import { errorMessage } from '../core/error-message.ts'
import { log } from '../core/log.ts'
import { addSeconds } from '../core/time.ts'
import { system } from '../database/system.ts'
import { addSigningKeys, retireSigningKeys, SIGNING_PERIOD_SECONDS } from '../keys/key-rotation.ts'
import { lockTenantRow, selectAlgorithms, selectTenantsWithDueKeys } from '../keys/keys.sql.ts'
import { startRepeatedJob } from './scheduler.ts'

const INTERVAL_MS = 60_000
/** Maximum number of tenants per run. The next run continues. */
const BATCH = 500
/**
 * How long a successor is published before it signs. It exceeds the time for which relying parties cache
 * keys.
 */
const PUBLISHED_AHEAD_SECONDS = 86_400

/** Creates successors of a tenant's keys that have signed since before `dueBefore`. Returns their number. */
async function rotateTenantKeys(tenant: string, now: Date, dueBefore: Date, activeAt: Date): Promise<number> {
  const ctx = createPlatformCtx(tenant)
  return ctx.db.transaction(async (tx) => {
    await lockTenantRow(tx)
    const algorithms = await selectAlgorithms(tx, now)
    const due = algorithms.filter((known) => known.activeAt <= dueBefore).map(({ alg }) => alg)
    if (due.length === 0) return 0
    await retireSigningKeys(tx, due, activeAt)
    await addSigningKeys(tx, ctx, due, activeAt)
    return due.length
  })
}

/**
 * Rotates the keys of up to `limit` tenants by schedule: keys that have signed for almost 90 days get a
 * successor, which is published a day ahead. Several processes may run this concurrently; each key gets one
 * successor. An error in one tenant does not stop the others. Returns the number of new keys.
 */
export async function rotateDueKeys(now: Date, limit: number): Promise<number> {
  const activeAt = addSeconds(now, PUBLISHED_AHEAD_SECONDS)
  const dueBefore = addSeconds(activeAt, -SIGNING_PERIOD_SECONDS)
  let total = 0
  for (const tenant of await selectTenantsWithDueKeys(system, dueBefore, limit))
    try {
      total += await rotateTenantKeys(tenant, now, dueBefore, activeAt)
    } catch (error) {
      log.error({ tenant, err: errorMessage(error) }, 'the signing keys could not be rotated')
    }
  return total
}

/** Rotates keys that are due about once a minute until the returned function is called. */
export const startKeyRotation = (): (() => void) =>
  startRepeatedJob('key rotation', INTERVAL_MS, () => rotateDueKeys(new Date(), BATCH))
