import { setTimeout as sleep } from 'node:timers/promises'
import { errorMessage } from '../core/error-message.ts'
import { log } from '../core/log.ts'
import { system } from '../database/system.ts'
import { selectRowChanges } from './row-changes.sql.ts'

/**
 * Reads which cached rows have changed. One statement serves all caches of the process. Triggers write each change to
 * "RowChange". The bus reports changes earlier, but can lose messages.
 */
type Listener = (tenant: string, key: string) => void
const listeners = new Map<string, Listener>()

/** Changes are read again when an entry is used that was last known to be current longer ago than this. */
export const CHECK_AGE_MS = 700
/** A check reads at most this number of changes. When it reaches the limit, all entries are loaded again. */
const MAX_CHANGES = 5000
/** After a longer gap between two checks, all entries are loaded again. Changes are kept for a day. */
const MAX_GAP_MS = 3_600_000
/** A reader waits for a check at most this long, and then loads its entry alone. */
const MAX_WAIT_MS = 300

/** What a check has read. */
type Check = {
  /** The snapshot of PostgreSQL in which the changes were read. */
  snapshot: string
  /** The start of the server; null if it cannot be written to. */
  server: string | null
  /** The number of changes. */
  changes: number
  /** The time of the machine in milliseconds, which does not stop with it. */
  time: number
}
/** The last check; undefined at the start and after an error. */
let last: Check | undefined
/** Since then, every change has been read: what was loaded earlier may be older than a change that was not. */
let completeSince = Number.POSITIVE_INFINITY
let startedAt = Number.NEGATIVE_INFINITY
/** The start of the last check that succeeded. */
let checkedAt = Number.NEGATIVE_INFINITY
let running: Promise<void> | undefined

/** Calls `listener` for each change of a row of `cache`. */
export function onRowChange(cache: string, listener: Listener): void {
  listeners.set(cache, listener)
}

/** The latest moment at which what was loaded at `loadedAt` is known to have been current, by `performance.now()`. */
export const toCurrentAt = (loadedAt: number): number =>
  loadedAt > completeSince ? Math.max(loadedAt, checkedAt) : loadedAt

/**
 * Whether `next` has read all changes since `previous`. A server that has taken over or was started again may not have
 * all transactions that the snapshot names.
 */
export const isComplete = (previous: Check | undefined, next: Check): boolean =>
  previous !== undefined &&
  next.server !== null &&
  next.server === previous.server &&
  next.changes < MAX_CHANGES &&
  next.time - previous.time < MAX_GAP_MS

async function readChanges(): Promise<void> {
  const start = performance.now()
  const time = Date.now()
  const previous = last
  startedAt = start
  try {
    const { changes, ...read } = await selectRowChanges(system, previous?.snapshot ?? null, MAX_CHANGES)
    for (const [cache, tenant, key] of changes) listeners.get(cache)?.(tenant, key)
    last = { ...read, changes: changes.length, time }
    if (!isComplete(previous, last)) completeSince = performance.now()
    checkedAt = start
  } catch (error) {
    // What was current at the last check remains so for a second after it, and cannot be checked again.
    last = undefined
    log.debug({ err: errorMessage(error) }, 'changes of cached rows could not be read')
  }
}

/**
 * Reads the changes since the last time, unless they were read within `maxAgeMs`. Concurrent callers share one
 * statement. Does not throw: after an error, what is cached becomes old. See docs/decisions/0104.
 */
export function checkRowChanges(maxAgeMs = CHECK_AGE_MS): Promise<void> {
  if (!running && performance.now() - startedAt < maxAgeMs) return Promise.resolve()
  running ??= readChanges().finally(() => {
    running = undefined
  })
  return running
}

/** Waits for a check, at most MAX_WAIT_MS after its start: its connection may be lost. */
export function awaitRowChanges(): Promise<void> {
  const check = checkRowChanges()
  const left = running !== undefined ? startedAt + MAX_WAIT_MS - performance.now() : 0
  return left > 0 ? Promise.race([check, sleep(left, undefined, { ref: false })]) : Promise.resolve()
}
