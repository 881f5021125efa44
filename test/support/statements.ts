import pg from 'pg'
import { vi } from 'vitest'

/** Statements that were sent while something ran, in order, BEGIN and COMMIT included. */
export async function recordStatements(work: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = []
  const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown }
  const original = prototype.query
  prototype.query = function (this: unknown, ...args: unknown[]) {
    const [query] = args
    statements.push(typeof query === 'string' ? query : String((query as { text?: string }).text))
    return original.apply(this, args)
  }
  try {
    await work()
  } finally {
    prototype.query = original
  }
  return statements
}

/** How many round trips to the database something makes in this process (design, section 9). */
export const countStatements = async (work: () => Promise<unknown>): Promise<number> =>
  (await recordStatements(work)).length

/** Counts what `work` sends once `warm` has filled the caches. What they keep lives for a second, whose clock stands still
 *  until `work` is done, however busy the machine is. */
export async function countWarmStatements(
  warm: () => Promise<unknown>,
  work: () => Promise<unknown>,
): Promise<number> {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
  try {
    await warm()
    return await countStatements(work)
  } finally {
    clock.mockRestore()
  }
}

/** The least of three calls: on a busy machine, what lives in memory for a second may have to be read again meanwhile. */
export async function leastStatements(work: () => Promise<unknown>): Promise<number> {
  const counts = [await countStatements(work), await countStatements(work), await countStatements(work)]
  return Math.min(...counts)
}
