import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { onTestFailed, TestRunner, vi } from 'vitest'
import { getRedis, publishMessage, subscribe } from '../../src/coordination/bus.ts'
import { checkRowChanges } from '../../src/coordination/row-changes.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'

/**
 * The check of cached rows is sent for all requests of a process together, at a time that depends on none of them. It may
 * share its round trip with their statements.
 */
export const isCheckOfCaches = (text: string): boolean =>
  text.split(';\n').every((each) => each.includes('FROM "RowChange"'))

/** Streams read the log every second until their clients have left. Those of an earlier test may still do. */
export const isReadOfTail = (text: string): boolean => text.includes('WITH newer AS')

type Sent = { text: string; isPrepared: boolean }

/** Records all statements that are sent while `work` runs, in order, BEGIN and COMMIT included. */
export async function captureStatements(work: () => Promise<unknown>): Promise<Sent[]> {
  const statements: Sent[] = []
  const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown }
  const original = prototype.query
  prototype.query = function (this: unknown, ...args: unknown[]) {
    const [query] = args as [string | { text?: string; name?: string }]
    const { text, name } = typeof query === 'string' ? { text: query, name: undefined } : query
    // The pool sends the empty statement to idle connections, whatever `work` does.
    if (text) statements.push({ text, isPrepared: name !== undefined })
    return original.apply(this, args)
  }
  try {
    await work()
  } finally {
    prototype.query = original
  }
  return statements
}

/** The texts of `captureStatements`. */
export const captureTexts = async (work: () => Promise<unknown>): Promise<string[]> =>
  (await captureStatements(work)).map(({ text }) => text)

const captureOwnTexts = async (work: () => Promise<unknown>): Promise<string[]> =>
  (await captureTexts(work)).filter((text) => !isCheckOfCaches(text) && !isReadOfTail(text))

/** How often cached rows are checked while `work` runs. */
export const countCacheChecks = async (work: () => Promise<unknown>): Promise<number> =>
  (await captureTexts(work)).filter(isCheckOfCaches).length

const QUIET_MS = 30
const QUIET_LIMIT_MS = 5000

/**
 * Waits until nothing is sent any more: what an earlier request sends after its response, such as a message or the event
 * of a rejection, is not counted with the next one.
 */
async function settle(): Promise<void> {
  const deadline = Date.now() + QUIET_LIMIT_MS
  for (;;) {
    await awaitDeliveries()
    if ((await captureOwnTexts(() => sleep(QUIET_MS))).length === 0) return
    if (Date.now() > deadline) throw new Error(`statements were sent for ${QUIET_LIMIT_MS} ms`)
  }
}

/**
 * Records the statements that are sent while `work` runs, in order, BEGIN and COMMIT included, without those of earlier
 * work and without what is sent at a time that depends on none. They are printed when the test fails: a count alone names no cause.
 */
export async function recordStatements(work: () => Promise<unknown>): Promise<string[]> {
  await settle()
  const texts = await captureOwnTexts(work)
  if (TestRunner.getCurrentTest()) onTestFailed(() => console.error(texts.join('\n--\n')))
  return texts
}

/** The number of round trips to the database that `work` makes in this process. */
export async function countStatements(work: () => Promise<unknown>): Promise<number> {
  return (await recordStatements(work)).length
}

const MESSAGE_LIMIT_MS = 2000
/**
 * Waits for the messages that this process has sent through Redis, which come back in order: one that is late on a busy
 * machine would empty a cache again.
 */
async function receiveOwnMessages(): Promise<void> {
  if (!getRedis()) return
  await new Promise<void>((resolve) => {
    let heard = 0
    const stop = subscribe('test', () => {
      heard += 1
      if (heard < 2) return
      stop()
      resolve()
    })
    setTimeout(resolve, MESSAGE_LIMIT_MS).unref()
    publishMessage('test', '')
  })
}

/**
 * Reads the changes of cached rows that earlier work made: a check within the counted request would empty the caches
 * again.
 */
async function readChanges(): Promise<void> {
  // The first may have begun before the work ended.
  await checkRowChanges(0)
  await checkRowChanges(0)
}

/**
 * Records the statements of `work` after `warm` has filled the caches. The clock of the caches, whose entries live for a
 * second, does not move until `work` is done.
 */
export async function recordWarmStatements(
  warm: () => Promise<unknown>,
  work: () => Promise<unknown>,
): Promise<string[]> {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
  try {
    await receiveOwnMessages()
    await readChanges()
    await warm()
    return await recordStatements(work)
  } finally {
    clock.mockRestore()
  }
}

/** Counts the round trips of `work` after `warm` has filled the caches. */
export const countWarmStatements = async (
  warm: () => Promise<unknown>,
  work: () => Promise<unknown>,
): Promise<number> => (await recordWarmStatements(warm, work)).length

/** The minimum of three calls: on a busy machine, a cache entry may expire during one of them. */
export async function leastStatements(work: () => Promise<unknown>): Promise<number> {
  const counts = [await countStatements(work), await countStatements(work), await countStatements(work)]
  return Math.min(...counts)
}
