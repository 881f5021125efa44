import { revokeSessions } from '../access/revocation/revocation.ts'
import { createPlatformCtx } from '../context/context.ts'
import { system } from '../database/system.ts'
import { MAX_DAYS } from '../events/daily-counts/daily-counts.fields.ts'
import { deleteMarks } from '../events/marks.sql.ts'
import { lockTenantRow } from '../keys/keys.sql.ts'
import { encodePosition } from '../model/event-position.ts'
import { KNOWN_DEVICE_DAYS } from '../passcodes/known-devices.sql.ts'
import {
  type CleanupTable,
  clearEventIps,
  deleteEvents,
  deleteFinishedRows,
  selectTenantsWithEvents,
  selectTenantsWithExpired,
  setEventsTrimmedTo,
} from './cleanup.sql.ts'
import { startRepeatedJob } from './scheduler.ts'

/** Maximum number of rows per statement, so that locks stay short. */
const BATCH = 500
/**
 * Maximum number of batches per table and run. The next run continues, so that a backlog does not slow
 * requests down.
 */
const MAX_BATCHES = 100
const INTERVAL_MS = 60_000

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Rejected requests, which callers without credentials write. */
export const REFUSED_EVENT_RETENTION_MS = 7 * DAY_MS
export const IP_RETENTION_MS = 30 * DAY_MS

/** How long rows are kept after they are finished. */
const RETENTION_MS: Record<CleanupTable, number> = {
  Interaction: 0,
  EnrollmentToken: 0,
  // Lists show for a while that a key has expired.
  ApiKey: 30 * DAY_MS,
  ApiKeySecret: 0,
  // Replaced secrets only: the current secret does not expire.
  ClientSecret: 0,
  // A key expires a day after its response; a key without a response belongs to a request that died.
  IdempotencyKey: 0,
  Client: 30 * DAY_MS,
  PushedRequest: 0,
  // A device that still polls gets expired_token.
  DeviceCode: HOUR_MS,
  // From then on the proof is rejected by its own age.
  UsedProof: 0,
  // Who was invited, and whether the person accepted, stays visible for a while.
  Invitation: 30 * DAY_MS,
  RegistrationToken: 0,
  // An id_token_hint that the key signed is still accepted at logout.
  SigningKey: 90 * DAY_MS,
  Grant: DAY_MS,
  Session: DAY_MS,
  // Requested codes count towards the limit for an hour.
  AddressChange: HOUR_MS,
  // Failed attempts count for a day, across codes.
  Passcode: DAY_MS,
  // As long as a cookie marks a browser as known.
  KnownDevice: KNOWN_DEVICE_DAYS * DAY_MS,
  // Its failures are deleted with it.
  BulkJob: 7 * DAY_MS,
  // Deliveries are listed for a week.
  WebhookDelivery: 7 * DAY_MS,
  // Those that are pushed are given up first.
  SignalToken: DAY_MS,
  SignalSubject: 0,
  FormerAddress: 0,
  // From the end of a migration on.
  OldPassword: 0,
  DailyCount: MAX_DAYS * DAY_MS,
  // Every process has read them long before.
  RowChange: DAY_MS,
  RefusedEvent: REFUSED_EVENT_RETENTION_MS,
}

const subtractMs = (now: Date, ms: number): Date => new Date(now.getTime() - ms)

/** Repeats `work` while it returns a full batch. Returns the total number of rows. */
async function runInBatches(work: () => Promise<number>): Promise<number> {
  let total = 0
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const count = await work()
    total += count
    if (count < BATCH) break
  }
  return total
}

/** Ends expired sessions with their grants and codes. */
async function endSessionsPastExpiry(now: Date): Promise<number> {
  let total = 0
  for (const tenant of await selectTenantsWithExpired(system, now, BATCH)) {
    const ctx = createPlatformCtx(tenant)
    const scope = { kind: 'expired sessions', limit: BATCH } as const
    total += await runInBatches(() =>
      ctx.db.transaction(async (tx) => (await revokeSessions(tx, ctx, scope, 'expired', now)).length),
    )
  }
  return total
}

/** Deletes old events. Readers with an older position receive a gap. */
async function deleteOldEvents(now: Date): Promise<number> {
  let total = 0
  for (const { tenantId, before } of await selectTenantsWithEvents(system, now, BATCH)) {
    const { db } = createPlatformCtx(tenantId)
    total += await runInBatches(() =>
      db.transaction(async (tx) => {
        // The lock on the tenant serializes processes, so that `eventsTrimmedTo` never moves back.
        await lockTenantRow(tx)
        const { count, last } = await deleteEvents(tx, before, BATCH)
        if (last) {
          await setEventsTrimmedTo(tx, encodePosition(last))
          await deleteMarks(tx, last)
        }
        return count
      }),
    )
  }
  return total
}

/** IP addresses of events before this time are cleared, so that later runs skip them. */
let ipsClearedTo = new Date(0)

/** Clears the IP address of events that are older than its retention. */
async function clearOldIps(now: Date): Promise<number> {
  const to = subtractMs(now, IP_RETENTION_MS)
  // An event carries the start time of its transaction, so the range overlaps by an hour for late commits.
  const from = new Date(Math.min(ipsClearedTo.getTime(), to.getTime() - HOUR_MS))
  const cleared = await runInBatches(() => clearEventIps(system, { from, to }, BATCH))
  if (cleared < BATCH * MAX_BATCHES) ipsClearedTo = to
  return cleared
}

/** The number of rows per part of a run. */
export type CleanupReport = Record<CleanupTable | 'endedSessions' | 'events' | 'ips', number>

/** Deletes expired rows of all tenants in small batches. */
export async function runCleanup(now = new Date()): Promise<CleanupReport> {
  const endedSessions = await endSessionsPastExpiry(now)
  const counts = { endedSessions } as CleanupReport
  for (const table of Object.keys(RETENTION_MS) as CleanupTable[])
    counts[table] = await runInBatches(() =>
      deleteFinishedRows(system, table, subtractMs(now, RETENTION_MS[table]), BATCH),
    )
  counts.events = await deleteOldEvents(now)
  counts.ips = await clearOldIps(now)
  return counts
}

/** Runs the cleanup about once a minute until the returned function is called. */
export const startCleanup = (): (() => void) => startRepeatedJob('cleanup', INTERVAL_MS, runCleanup)
