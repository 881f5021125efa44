import type { Workload } from './workload.ts'

/** The protocol counts as in use for so long after a request, because sign-ins send several. */
const PROTOCOL_LINGER_MS = 50

/**
 * Management calls work for so long in one round of the event loop. A round costs as much as a small call, so that
 * several of them share it.
 */
const ROUND_MS = 1

/**
 * Shares the event loop between the protocol and management calls, and between tenants. Management calls work
 * in turns of at most a few milliseconds. Tenants alternate. While the protocol is in use, one turn is given per
 * round of the event loop, and is followed by a pause of its own length, so that management calls take at most half
 * of the time.
 */
let protocolRequests = 0
let protocolActiveUntil = 0
/** The work of a tenant that waits. What converts rows comes first, because those rows take memory until it is done. */
type Queue = { converting: (() => void)[]; starting: (() => void)[] }
/** Tenants in the order of their turns. */
const queues = new Map<string, Queue>()
let isScheduled = false
let pausedUntil = 0

/** Whether the protocol is in use: a request is being answered, or was within the last 50 ms. */
export const isProtocolActive = (): boolean => protocolRequests > 0 || performance.now() < protocolActiveUntil

/** Counts a protocol request until the returned function is called. */
export function enterProtocol(): () => void {
  protocolRequests += 1
  return () => {
    protocolRequests -= 1
    protocolActiveUntil = performance.now() + PROTOCOL_LINGER_MS
  }
}

function takeNext(): (() => void) | undefined {
  for (const [tenant, queue] of queues) {
    queues.delete(tenant)
    const next = queue.converting.shift() ?? queue.starting.shift()
    if (queue.converting.length + queue.starting.length > 0) queues.set(tenant, queue)
    return next
  }
  return undefined
}

function startRound(): void {
  const now = performance.now()
  if (isProtocolActive() && now < pausedUntil) setTimeout(startRound, pausedUntil - now)
  else giveTurn(now)
}

function giveTurn(roundStart: number): void {
  const next = takeNext()
  if (!next) {
    isScheduled = false
    return
  }
  const start = performance.now()
  next()
  // The turn works in microtasks. The tick queue follows when none is left.
  queueMicrotask(() => process.nextTick(endTurn, roundStart, start))
}

function endTurn(roundStart: number, start: number): void {
  const ended = performance.now()
  pausedUntil = ended + (ended - start)
  if (!isProtocolActive() && ended - roundStart < ROUND_MS) giveTurn(roundStart)
  else setImmediate(startRound)
}

function joinQueue({ tenant, workload }: Workload, part: keyof Queue): Promise<void> | undefined {
  if (!workload) return undefined
  return new Promise((resolve) => {
    const queue = queues.get(tenant) ?? { converting: [], starting: [] }
    queues.set(tenant, queue)
    queue[part].push(resolve)
    if (isScheduled) return
    isScheduled = true
    setImmediate(startRound)
  })
}

/**
 * Waits for a turn of the tenant; undefined, without waiting, for work that is not limited.
 * See docs/decisions/0049.
 */
export const takeTurn = (workload: Workload): Promise<void> | undefined => joinQueue(workload, 'starting')

/**
 * Waits for another turn while the protocol is in use: for what follows the body of a request, whose arrival has ended
 * the first turn.
 */
export const resumeTurn = (workload: Workload): Promise<void> | undefined =>
  isProtocolActive() ? takeTurn(workload) : undefined

/** Waits for another turn of work that converts the rows of one result, before other work of the tenant starts. */
const takeNextTurn = (workload: Workload): Promise<void> | undefined => joinQueue(workload, 'converting')

/** The number of rows that one turn converts: those of most pages, unless a protocol request would wait for them. */
const getRowsPerTurn = (): number => (isProtocolActive() ? 25 : 50)

/** Converts rows in turns. */
export async function mapInTurns<Row, Result>(
  workload: Workload,
  rows: readonly Row[],
  convert: (row: Row) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  const rowsPerTurn = getRowsPerTurn()
  for (const [index, row] of rows.entries()) {
    if (index > 0 && index % rowsPerTurn === 0) await takeNextTurn(workload)
    results.push(convert(row))
  }
  return results
}

/**
 * Returns the rows; those after the first turn are promises that resolve in later turns, so that what
 * awaits each of them does not work on all at once.
 */
export function spreadOverTurns<Row>(workload: Workload, rows: readonly Row[]): (Row | Promise<Row>)[] {
  let turn: Promise<void> | undefined
  const rowsPerTurn = getRowsPerTurn()
  return rows.map((row, index) => {
    if (index === 0) return row
    if (index % rowsPerTurn === 0)
      turn = turn ? turn.then(() => takeNextTurn(workload)) : takeNextTurn(workload)
    return turn ? turn.then(() => row) : row
  })
}
