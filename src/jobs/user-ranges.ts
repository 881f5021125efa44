import { setTimeout as sleep } from 'node:timers/promises'
import { Handle } from '../database/handle.ts'
import { system } from '../database/system.ts'
import {
  divideRange,
  selectUnevenRanges,
  tryLockRanges,
  type UnevenRange,
} from '../users/list/user-ranges.sql.ts'
import { startRepeatedJob } from './scheduler.ts'

const INTERVAL_MS = 30_000
/** A page by offset reads half as many index entries on average as a range has users. */
const LARGEST_RANGE = 8000
const NEW_RANGE = LARGEST_RANGE / 2
/** Ranges that one run divides. */
const BATCH = 100
/** While users are written without a pause, the lock is free only between two transactions. */
const ATTEMPTS = 20
const PAUSE_MS = 25

const tryDivide = (range: UnevenRange): Promise<boolean> =>
  new Handle({ tenant: range.tenantId }).transaction(async (tx) => {
    const isLocked = await tryLockRanges(tx)
    if (isLocked) await divideRange(tx, range, NEW_RANGE)
    return isLocked
  })

/**
 * Divides ranges that have become too large and removes empty ones, so that pages by offset stay cheap at any depth. A
 * range whose tenant is written without a pause is left for the next run. Returns how many ranges it changed.
 * See docs/decisions/0097.
 */
export async function divideRanges(): Promise<number> {
  let changed = 0
  for (const range of await selectUnevenRanges(system, { largest: LARGEST_RANGE, limit: BATCH }))
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (await tryDivide(range)) {
        changed += 1
        break
      }
      await sleep(PAUSE_MS)
    }
  return changed
}

/** Divides ranges every half minute, until the returned function is called. */
export const startRangeDivision = (): (() => void) =>
  startRepeatedJob('the division of user ranges', INTERVAL_MS, divideRanges)
