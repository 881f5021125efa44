import type { Ctx } from '../../context/context.ts'
import { InvalidInput } from '../../core/errors.ts'
import { parseInput } from '../../schema/input-shapes.ts'
import {
  COUNTED_METHODS,
  type CountedMethod,
  type DailyCount,
  DailyCountsInput,
  DEFAULT_DAYS,
  MAX_DAYS,
  type MethodCounts,
} from './daily-counts.fields.ts'
import { selectCounts } from './daily-counts.sql.ts'

const DAY_MS = 86_400_000
/** Days since 1970-01-01, in UTC. */
const toDayNumber = (day: string): number => Date.parse(day) / DAY_MS
const toDay = (number: number): string => new Date(number * DAY_MS).toISOString().slice(0, 10)
const FIRST_DAY = toDayNumber('0000-01-01')
const LAST_DAY = toDayNumber('9999-12-31')

/** The days that are asked for, by their numbers. Throws InvalidInput. */
function parseDays(input: unknown): { first: number; last: number } {
  const { from, to } = parseInput(DailyCountsInput, input)
  const given = { first: from ? toDayNumber(from) : null, last: to ? toDayNumber(to) : null }
  const today = Math.floor(Date.now() / DAY_MS)
  const last =
    given.last ?? (given.first === null ? today : Math.min(given.first + DEFAULT_DAYS - 1, LAST_DAY))
  const first = given.first ?? Math.max(last - DEFAULT_DAYS + 1, FIRST_DAY)
  if (last < first) throw new InvalidInput([{ field: 'to', description: 'must not be before from' }])
  if (last - first >= MAX_DAYS)
    throw new InvalidInput([{ field: 'to', description: `must be less than ${MAX_DAYS} days after from` }])
  return { first, last }
}

/** How many days are asked for; one if the input is not valid. */
export function countDays(input: unknown): number {
  try {
    const { first, last } = parseDays(input)
    return last - first + 1
  } catch {
    return 1
  }
}

const createMethodCounts = (): MethodCounts =>
  Object.fromEntries(['total', ...COUNTED_METHODS].map((name) => [name, 0])) as MethodCounts

/**
 * Returns the numbers of sign-ins, failed sign-ins and new users of each day of a period. They are kept in the transactions
 * of the events, and include every event that is committed. One statement. Throws InvalidInput.
 */
export async function getDailyCounts(ctx: Ctx, input: unknown): Promise<DailyCount[]> {
  const { first, last } = parseDays(input)
  const days = Array.from({ length: last - first + 1 }, (_, index) => ({
    day: toDay(first + index),
    signIns: createMethodCounts(),
    failedSignIns: createMethodCounts(),
    newUsers: 0,
  }))
  for (const { day, kind, method, count } of await selectCounts(ctx.db, { first, last })) {
    const counts = days[day - first]
    if (!counts) continue
    if (kind === 'new-user') {
      counts.newUsers += Number(count)
      continue
    }
    const byMethod = kind === 'sign-in' ? counts.signIns : counts.failedSignIns
    const name = (COUNTED_METHODS as string[]).includes(method) ? (method as CountedMethod) : 'unknown'
    byMethod[name] += Number(count)
    byMethod.total += Number(count)
  }
  return days
}
