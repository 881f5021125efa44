import pg from 'pg'
import { vi } from 'vitest'
import { recordStatements } from './statements.ts'

type Query = (...args: unknown[]) => unknown
type Backend = { processID: number; query: Query }

/** Before: the server ends the connection, then the statement is sent. After: it answers, then ends the connection. */
export type Moment = 'before' | 'after'

/** A statement of `work`: its text, and which of those with this text it is, counted from 1. */
export type Target = { text: string; occurrence: number }

const textOf = (query: unknown): string =>
  typeof query === 'string' ? query : String((query as { text?: string }).text)

/** Runs `work` and returns its statements. */
export async function listTargets(work: () => Promise<unknown>): Promise<Target[]> {
  const texts = await recordStatements(work)
  return texts.map((text, index) => ({
    text,
    occurrence: texts.slice(0, index + 1).filter((each) => each === text).length,
  }))
}

/**
 * Runs `work` while the server ends the connection of one statement. Returns whether the statement was sent,
 * which a cache may prevent. `admin` is a connection of the same role.
 */
export async function endConnectionAt(
  admin: pg.ClientBase,
  target: Target,
  moment: Moment,
  work: () => Promise<unknown>,
): Promise<boolean> {
  const prototype = pg.Client.prototype as unknown as Backend
  const original = prototype.query
  let ending: Promise<unknown> = Promise.resolve()
  const end = (client: Backend) => {
    ending = original.call(admin, 'SELECT pg_terminate_backend($1, 2000)', [
      client.processID,
    ]) as Promise<unknown>
    return ending
  }
  let count = 0
  prototype.query = function (this: Backend, ...args) {
    if (textOf(args[0]) !== target.text || ++count !== target.occurrence) return original.apply(this, args)
    if (moment === 'before') return end(this).then(() => original.apply(this, args))
    const done = args.at(-1)
    if (typeof done !== 'function') return endAfter(original.apply(this, args) as Promise<unknown>, this)
    args[args.length - 1] = (...results: unknown[]) => void end(this).then(() => done(...results))
    return original.apply(this, args)
  }
  const endAfter = async (answer: Promise<unknown>, client: Backend) => {
    const result = await answer
    await end(client)
    return result
  }
  try {
    await work()
  } finally {
    prototype.query = original
    await ending
  }
  return count >= target.occurrence
}

/**
 * Makes fetch repeat a request once that is answered 503 with Retry-After, as clients do. Returns the answers
 * that had a status from 500.
 */
export function retryUnavailable(): {
  status: number
  retryAfter: string | null
  url: string
  body: string
}[] {
  const failures: { status: number; retryAfter: string | null; url: string; body: string }[] = []
  const original = globalThis.fetch
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const response = await original(input, init)
    if (response.status < 500) return response
    const retryAfter = response.headers.get('retry-after')
    failures.push({ status: response.status, retryAfter, url: String(input), body: await response.text() })
    return original(input, init)
  })
  return failures
}
