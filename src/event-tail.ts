import { listen } from './bus.ts'
import {
  comparePositions,
  decodePosition,
  type LogEvent,
  type Position,
  readEvents,
  readHead,
  WAKE_TOPIC,
} from './events.ts'

/** How many entries one read fetches, and how many of the newest are kept for readers that are nearly up to date. */
const BATCH = 500
const KEPT = 1000
/** While entries are hidden behind an open transaction, look again soon, then less often. */
const HIDDEN_POLL_MS = [5, 10, 25, 50, 100, 250]
/** A wake-up may get lost with Redis: look anyway. */
const SAFETY_POLL_MS = 1000

/**
 * The newest entries of one tenant's log, shared by all readers of the process: one read of the database a wake-up,
 * however many subscribe. Readers pull from here at their own pace; one that falls behind `kept` reads the log
 * itself, so that a stalled reader costs no memory and loses nothing.
 */
type Tail = {
  /** Entries after `start`, up to `head`; their positions are kept decoded, since every reader compares them. */
  kept: { at: Position; event: LogEvent }[]
  start: Position
  head: Position
  readers: number
  waiting: Set<() => void>
  stopped: boolean
  stop: () => void
}

const tails = new Map<string, Promise<Tail>>()

async function openTail(tenant: string): Promise<Tail> {
  const { head } = await readHead(tenant)
  const tail: Tail = {
    kept: [],
    start: head,
    head,
    readers: 0,
    waiting: new Set(),
    stopped: false,
    stop: () => {},
  }
  let timer: NodeJS.Timeout | undefined
  let reading = false
  let again = false
  let attempt = 0

  const look = async (): Promise<void> => {
    if (tail.stopped) return
    if (reading) {
      again = true
      return
    }
    reading = true
    clearTimeout(timer)
    let delay = SAFETY_POLL_MS
    try {
      const { events, hidden } = await readEvents(tenant, tail.head, BATCH)
      append(tail, events)
      attempt = events.length > 0 ? 0 : attempt + 1
      if (events.length === BATCH) again = true
      else if (hidden) delay = HIDDEN_POLL_MS[Math.min(attempt, HIDDEN_POLL_MS.length - 1)] ?? SAFETY_POLL_MS
    } catch {
      // The database is away; readiness says so. Readers go on from where they stand once it is back.
    }
    reading = false
    if (tail.stopped) return
    timer = setTimeout(look, again ? 0 : delay).unref()
    again = false
  }
  const unlisten = listen(WAKE_TOPIC, (woken) => {
    if (woken !== tenant) return
    attempt = 0
    void look()
  })
  tail.stop = () => {
    tail.stopped = true
    clearTimeout(timer)
    unlisten()
  }
  timer = setTimeout(look, 0).unref()
  return tail
}

function append(tail: Tail, events: LogEvent[]): void {
  if (events.length === 0) return
  tail.kept.push(...events.map((event) => ({ at: decodePosition(event.position), event })))
  tail.head = tail.kept.at(-1)?.at ?? tail.head
  const surplus = tail.kept.length - KEPT
  if (surplus > 0) tail.start = tail.kept.splice(0, surplus).at(-1)?.at ?? tail.start
  for (const wake of tail.waiting) wake()
  tail.waiting.clear()
}

/** Resolves once there is an entry after `at`, or when the signal aborts. */
function nextEntry(tail: Tail, at: Position, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || comparePositions(tail.head, at) > 0) return resolve()
    const done = () => {
      tail.waiting.delete(done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    tail.waiting.add(done)
    signal.addEventListener('abort', done)
  })
}

/** Either an entry, or the explicit sign that retention removed what came before `position`. */
export type Followed = { kind: 'event'; event: LogEvent } | { kind: 'gap'; position: Position }

/**
 * Follows a tenant's log: replays what came after `after`, then continues live until the signal aborts. Without
 * `after` it starts behind the newest entry. Each entry comes exactly once, in the order of the log.
 */
export async function* followEvents(
  tenant: string,
  after: Position | null,
  signal: AbortSignal,
): AsyncGenerator<Followed> {
  const tail = await joinTail(tenant)
  try {
    let at = after ?? tail.head
    if (after) {
      const { trimmedTo } = await readHead(tenant)
      if (trimmedTo && comparePositions(after, trimmedTo) < 0) {
        at = trimmedTo
        yield { kind: 'gap', position: trimmedTo }
      }
    }
    while (!signal.aborted) {
      const events = await entriesAfter(tenant, tail, at)
      if (events.length === 0) {
        // Retention took what it was behind by: without this it would look again at once, for ever.
        if (comparePositions(at, tail.start) < 0) at = tail.start
        await nextEntry(tail, at, signal)
        continue
      }
      for (const event of events) {
        if (signal.aborted) return
        yield { kind: 'event', event }
        at = decodePosition(event.position)
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
    const opening = tails.get(tenant) ?? openTail(tenant)
    tails.set(tenant, opening)
    const tail = await opening.catch((error) => {
      tails.delete(tenant)
      throw error
    })
    // The last reader may have left, and stopped it, while this one was waiting for it.
    if (tail.stopped) continue
    tail.readers += 1
    return tail
  }
}

async function entriesAfter(tenant: string, tail: Tail, at: Position): Promise<LogEvent[]> {
  if (comparePositions(at, tail.start) < 0) {
    const { events } = await readEvents(tenant, at, BATCH)
    return events
  }
  // Readers are mostly at the end: look from there.
  const last = tail.kept.findLastIndex((entry) => comparePositions(entry.at, at) <= 0)
  return tail.kept.slice(last + 1).map(({ event }) => event)
}
