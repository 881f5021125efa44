import { EVENTS_TOPIC, subscribe } from '../coordination/bus.ts'
import { type Db, Handle } from '../database/handle.ts'
import { comparePositions, decodePosition, type Position } from '../model/event-position.ts'
import { type LogEvent, readEvents, readHead } from './log.ts'

/** The number of events that one read fetches, and the number of newest events that stay in memory. */
const BATCH = 500
const MAX_KEPT_EVENTS = 1000
/** Poll intervals while events are hidden behind an open transaction. */
const HIDDEN_POLL_MS = [5, 10, 25, 50, 100, 250]
/** The poll interval otherwise, since a wake message may be lost. */
const SAFETY_POLL_MS = 1000

/**
 * The newest events of one tenant's log, shared by all readers of the process: one read of the database per
 * wake, however many readers there are. Readers pull from the tail at their own pace. A reader that falls
 * behind `start` reads the log itself, so that a slow reader takes no memory and misses no event.
 */
type Tail = {
  db: Db
  /** Events after `start` up to `head`, with decoded positions, which every reader compares. */
  events: { position: Position; event: LogEvent }[]
  start: Position
  head: Position
  readers: number
  waiting: Set<() => void>
  stopped: boolean
  stop: () => void
}

const tails = new Map<string, Promise<Tail>>()

async function startTail(tenant: string): Promise<Tail> {
  const db = new Handle({ tenant })
  const { head } = await readHead(db)
  const tail: Tail = {
    db,
    events: [],
    start: head,
    head,
    readers: 0,
    waiting: new Set(),
    stopped: false,
    stop: () => {},
  }
  let timer: NodeJS.Timeout | undefined
  let reading = false
  let repeat = false
  let attempt = 0

  const poll = async (): Promise<void> => {
    if (tail.stopped) return
    if (reading) {
      repeat = true
      return
    }
    reading = true
    clearTimeout(timer)
    let delay = SAFETY_POLL_MS
    try {
      const { events, hidden } = await readEvents(db, tail.head, BATCH)
      appendEvents(tail, events)
      attempt = events.length > 0 ? 0 : attempt + 1
      if (events.length === BATCH) repeat = true
      else if (hidden) delay = HIDDEN_POLL_MS[Math.min(attempt, HIDDEN_POLL_MS.length - 1)] ?? SAFETY_POLL_MS
    } catch {
      // The database is unavailable. Readers continue from their positions when it is available again.
    }
    reading = false
    if (tail.stopped) return
    timer = setTimeout(poll, repeat ? 0 : delay).unref()
    repeat = false
  }
  const stopListening = subscribe(EVENTS_TOPIC, (changedTenant) => {
    if (changedTenant !== tenant) return
    attempt = 0
    void poll()
  })
  tail.stop = () => {
    tail.stopped = true
    clearTimeout(timer)
    stopListening()
  }
  timer = setTimeout(poll, 0).unref()
  return tail
}

function appendEvents(tail: Tail, events: LogEvent[]): void {
  if (events.length === 0) return
  tail.events.push(...events.map((event) => ({ position: decodePosition(event.position), event })))
  tail.head = tail.events.at(-1)?.position ?? tail.head
  const surplus = tail.events.length - MAX_KEPT_EVENTS
  if (surplus > 0) tail.start = tail.events.splice(0, surplus).at(-1)?.position ?? tail.start
  for (const wake of tail.waiting) wake()
  tail.waiting.clear()
}

/** Resolves once the tail has an event after `position`, or when the signal aborts. */
function waitForEvent(tail: Tail, position: Position, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || comparePositions(tail.head, position) > 0) return resolve()
    const finish = () => {
      tail.waiting.delete(finish)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    tail.waiting.add(finish)
    signal.addEventListener('abort', finish)
  })
}

/** An event, or a gap: retention has removed the events before `position`. */
export type TailItem = { kind: 'event'; event: LogEvent } | { kind: 'gap'; position: Position }

/**
 * Follows a tenant's log: yields the events after `after`, then new events until the signal aborts. With
 * null, it starts after the newest event. Each event is yielded exactly once, in the order of the log.
 */
export async function* followEvents(
  tenant: string,
  after: Position | null,
  signal: AbortSignal,
): AsyncGenerator<TailItem> {
  const tail = await joinTail(tenant)
  try {
    let position = after ?? tail.head
    if (after) {
      const { trimmedTo } = await readHead(tail.db)
      if (trimmedTo && comparePositions(after, trimmedTo) < 0) {
        position = trimmedTo
        yield { kind: 'gap', position: trimmedTo }
      }
    }
    while (!signal.aborted) {
      const events = await readEventsAfter(tail, position)
      if (events.length === 0) {
        // Retention has removed the events up to the tail: without this, the loop would never wait.
        if (comparePositions(position, tail.start) < 0) position = tail.start
        await waitForEvent(tail, position, signal)
        continue
      }
      for (const event of events) {
        if (signal.aborted) return
        yield { kind: 'event', event }
        position = decodePosition(event.position)
      }
    }
  } finally {
    tail.readers -= 1
    if (tail.readers === 0) {
      tail.stop()
      tails.delete(tenant)
    }
  }
}

async function joinTail(tenant: string): Promise<Tail> {
  for (;;) {
    const opening = tails.get(tenant) ?? startTail(tenant)
    tails.set(tenant, opening)
    const tail = await opening.catch((error) => {
      tails.delete(tenant)
      throw error
    })
    // The last reader may have left and stopped the tail while this one waited.
    if (tail.stopped) continue
    tail.readers += 1
    return tail
  }
}

async function readEventsAfter(tail: Tail, after: Position): Promise<LogEvent[]> {
  if (comparePositions(after, tail.start) < 0) {
    const { events } = await readEvents(tail.db, after, BATCH)
    return events
  }
  // Searches from the end, where most readers are.
  const last = tail.events.findLastIndex((entry) => comparePositions(entry.position, after) <= 0)
  return tail.events.slice(last + 1).map(({ event }) => event)
}
