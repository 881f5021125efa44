import {
  type CleanedTable,
  clearIps,
  deleteDone,
  deleteEvents,
  endExpired,
  selectTenantsWithEvents,
  selectTenantsWithExpired,
  updateTrimmedTo,
} from './cleanup.sql.ts'
import { platformCtx, SYSTEM_TENANT } from './ctx.ts'
import { inTransaction, sql } from './db.ts'
import { encodePosition } from './events.ts'
import { startRepeated } from './repeated.ts'
import { wakeAfterEnding } from './sessions/after-ending.ts'
import { finishEnding } from './sessions/sessions.ts'
import { holdTenant } from './tenants/tenants.sql.ts'

/** Rows that one statement takes at most: locks stay short, and other writers never wait for long. */
const BATCH = 500
/** Batches of one kind in one run. What is left is for the next one, so that a backlog does not crowd out requests. */
const MAX_BATCHES = 100
const INTERVAL_MS = 60_000

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
export const EVENT_RETENTION_MS = 90 * DAY_MS
export const IP_RETENTION_MS = 30 * DAY_MS

/** How long rows stay once they are done. */
const KEPT_MS: Record<CleanedTable, number> = {
  Interaction: 0,
  // A code that is redeemed again must still be known for a used one, so that its grant is revoked.
  AuthorizationCode: HOUR_MS,
  EnrollmentToken: 0,
  // One that was replaced: the current one never expires.
  ClientSecret: 0,
  // With its answer, a day; without one, its caller died.
  IdempotencyKey: 0,
  Client: 30 * DAY_MS,
  PushedRequest: 0,
  // A device that still polls is told that its code has expired.
  DeviceCode: HOUR_MS,
  // What it proved is too old by itself from then on.
  UsedProof: 0,
  RegistrationToken: 0,
  // An ID token that it signed still tells who wants to sign out.
  SigningKey: 90 * DAY_MS,
  Grant: DAY_MS,
  Session: DAY_MS,
  // Codes that were asked for count for an hour.
  AddressChange: HOUR_MS,
  // Failures count for a day, across codes.
  Passcode: DAY_MS,
}

const ago = (now: Date, ms: number): Date => new Date(now.getTime() - ms)

/** Repeats `work` while it comes back with a full batch; returns how many rows it took in all. */
async function inBatches(work: () => Promise<number>): Promise<number> {
  let total = 0
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const count = await work()
    total += count
    if (count < BATCH) break
  }
  return total
}

/** Ends sessions that have expired, with what hangs on them, and tells so. */
async function endExpiredSessions(now: Date): Promise<number> {
  let total = 0
  for (const tenant of await selectTenantsWithExpired(sql, SYSTEM_TENANT, now, BATCH)) {
    const ended = await inBatches(() =>
      inTransaction(async (tx) => {
        const sessions = await endExpired(tx, tenant, now, BATCH)
        await finishEnding(tx, platformCtx(tenant), sessions, 'expired', now)
        return sessions.length
      }),
    )
    if (ended > 0) wakeAfterEnding(tenant)
    total += ended
  }
  return total
}

/** Removes old entries of the log; readers from before them are told of the gap. */
async function trimEvents(now: Date): Promise<number> {
  const before = ago(now, EVENT_RETENTION_MS)
  let total = 0
  for (const tenant of await selectTenantsWithEvents(sql, SYSTEM_TENANT, before, BATCH))
    total += await inBatches(() =>
      inTransaction(async (tx) => {
        // One process at a time, so that `eventsTrimmedTo` never goes back.
        await holdTenant(tx, tenant)
        const { count, last } = await deleteEvents(tx, tenant, before, BATCH)
        if (last) await updateTrimmedTo(tx, tenant, encodePosition(last))
        return count
      }),
    )
  return total
}

/** Up to here this process has seen to the addresses: what lies before is not searched again every minute. */
let ipsClearedTo = new Date(0)

/** Takes addresses out of entries that may be kept without them. */
async function clearOldIps(now: Date): Promise<number> {
  const to = ago(now, IP_RETENTION_MS)
  // Entries carry the time their transaction began: look back a little for those that committed late.
  const from = new Date(Math.min(ipsClearedTo.getTime(), to.getTime() - HOUR_MS))
  const cleared = await inBatches(() => clearIps(sql, SYSTEM_TENANT, { from, to }, BATCH))
  if (cleared < BATCH * MAX_BATCHES) ipsClearedTo = to
  return cleared
}

/** How many rows each part of a run took. */
export type CleanupReport = Record<CleanedTable | 'endedSessions' | 'events' | 'ips', number>

/** Removes what has expired, in small batches, from all tenants (design, section 4: growth). */
export async function cleanUp(now = new Date()): Promise<CleanupReport> {
  const endedSessions = await endExpiredSessions(now)
  const counts = { endedSessions } as CleanupReport
  for (const table of Object.keys(KEPT_MS) as CleanedTable[])
    counts[table] = await inBatches(() =>
      deleteDone(sql, SYSTEM_TENANT, table, ago(now, KEPT_MS[table]), BATCH),
    )
  counts.events = await trimEvents(now)
  counts.ips = await clearOldIps(now)
  return counts
}

/** Cleans up about once a minute until the returned function is called. */
export const startCleanup = (): (() => void) => startRepeated('clean-up', INTERVAL_MS, cleanUp)
