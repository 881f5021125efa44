import { EVENTS_TOPIC, subscribe } from '../coordination/bus.ts'
import { errorMessage } from '../core/error-message.ts'
import { log } from '../core/log.ts'
import { type Db, Handle } from '../database/handle.ts'
import { onInserted } from '../database/insertions.ts'
import { system } from '../database/system.ts'
import { decodePosition, type Position } from '../model/event-position.ts'
import { readEvents, readHead } from './log.ts'

/** Events that one read fetches. */
export const FOLLOWED_BATCH = 250
/** How often followers and events of other processes are looked for. */
const POLL_MS = 3000
/** While events are hidden behind an open transaction, or the messages of a receiver that answers wait. */
const SOON_MS = 100

/**
 * How many of the next events a follower takes, of which each is `each` messages at most. 0 until half of the messages that may
 * wait are gone: a read of which few events are used costs as much as one of which all are.
 */
export function countTaken({ room, capacity }: { room: number; capacity: number }, each = 1): number {
  const [taken, most] = [room, capacity].map((messages) =>
    Math.min(Math.floor(messages / each), FOLLOWED_BATCH),
  ) as [number, number]
  return 2 * taken < most ? 0 : taken
}

/** Whether a follower should be called again: at once, after a while, or when an event is recorded. */
export type NextTurn = 'now' | 'soon' | 'idle'

/** The log of a tenant as one round reads it: followers at one position share a read. */
export type LogReading = {
  trimmedTo: Position | null
  readAfter: (position: string) => ReturnType<typeof readEvents>
  /** Moves a follower to which none of the events is sent: those at one position move together, when the round ends. */
  pass: (id: string, from: string, to: string) => void
}

type Pass = { ids: string[]; from: string; to: string }

async function openReading(db: Handle): Promise<{ reading: LogReading; passes: Map<string, Pass> }> {
  const { trimmedTo } = await readHead(db)
  const reads = new Map<string, ReturnType<typeof readEvents>>()
  const passes = new Map<string, Pass>()
  const reading: LogReading = {
    trimmedTo,
    readAfter: (position) => {
      const read = reads.get(position) ?? readEvents(db, decodePosition(position), FOLLOWED_BATCH)
      reads.set(position, read)
      return read
    },
    pass: (id, from, to) => {
      const key = `${from} ${to}`
      const pass = passes.get(key) ?? { ids: [], from, to }
      passes.set(key, pass)
      pass.ids.push(id)
    },
  }
  return { reading, passes }
}

/** Those who follow the log, each with its position in a row of a table. */
export type LogFollowers<Follower> = {
  /** The table of the followers: an insertion wakes this process. */
  table: string
  /** The tenants with followers. Requires the tenant `system`. */
  selectTenants: (system: Db) => Promise<string[]>
  selectFollowers: (db: Db) => Promise<Follower[]>
  /** Makes the next messages of a follower. */
  advance: (db: Handle, follower: Follower, reading: LogReading) => Promise<NextTurn>
  /** Moves followers that are at `from` to `to`. */
  passEvents: (db: Db, pass: Pass) => Promise<void>
}

/**
 * Follows the logs of the tenants that have followers, any number of processes at a time. The returned function stops it and
 * resolves when nothing is being written.
 */
export function startFollowing<Follower>({
  table,
  selectTenants,
  selectFollowers,
  advance,
  passEvents,
}: LogFollowers<Follower>): () => Promise<void> {
  /** Tenants with a follower. A tenant without one costs nothing per event. */
  let tenants = new Set<string>()
  const due = new Set<string>()
  let isStopped = false
  let working: Promise<void> | null = null
  const timers = new Set<NodeJS.Timeout>()

  const wakeLater = (tenant: string): void => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      wake(tenant)
    }, SOON_MS).unref()
    timers.add(timer)
  }

  const followTenant = async (tenant: string): Promise<void> => {
    const db = new Handle({ tenant, workload: 'change' })
    const followers = await selectFollowers(db)
    if (followers.length === 0) return
    const { reading, passes } = await openReading(db)
    for (const follower of followers) {
      if (isStopped) return
      const next = await advance(db, follower, reading)
      if (next === 'now') due.add(tenant)
      else if (next === 'soon') wakeLater(tenant)
    }
    for (const pass of passes.values()) await passEvents(db, pass)
  }

  const work = async (): Promise<void> => {
    for (const tenant of due) {
      if (isStopped) return
      due.delete(tenant)
      await followTenant(tenant).catch((error: unknown) =>
        log.warn({ table, tenant, err: errorMessage(error) }, 'the log cannot be followed'),
      )
    }
  }

  const start = (): void => {
    working ??= work().finally(() => {
      working = null
      if (due.size > 0 && !isStopped) start()
    })
  }

  const wake = (tenant: string): void => {
    if (isStopped || !tenants.has(tenant)) return
    due.add(tenant)
    start()
  }

  const findTenants = async (): Promise<void> => {
    tenants = new Set(await selectTenants(system))
    for (const tenant of tenants) wake(tenant)
  }

  let poll: NodeJS.Timeout | undefined
  let polling: Promise<void> = Promise.resolve()
  const repeat = (): void => {
    polling = findTenants()
      .catch((error: unknown) =>
        log.warn({ table, err: errorMessage(error) }, 'cannot look for followers of the log'),
      )
      .then(() => {
        if (!isStopped) poll = setTimeout(repeat, POLL_MS * (0.75 + Math.random() / 2)).unref()
      })
  }

  const stopListening = [
    subscribe(EVENTS_TOPIC, wake),
    onInserted(table, (tenant) => {
      tenants.add(tenant)
      wake(tenant)
    }),
  ]
  repeat()
  return async () => {
    isStopped = true
    clearTimeout(poll)
    for (const timer of timers) clearTimeout(timer)
    for (const stop of stopListening) stop()
    await polling
    await working
  }
}
