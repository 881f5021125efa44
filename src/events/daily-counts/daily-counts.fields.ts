import * as z from 'zod'
import { METHOD_DESCRIPTIONS, SECOND_FACTOR_DESCRIPTIONS } from '../../model/sign-in-methods.ts'

export const MAX_DAYS = 400
export const DEFAULT_DAYS = 30

export const DAY_DESCRIPTION = `Numbers of sign-ins and of new users of a day. Kept for ${MAX_DAYS} days.`

const day = z.iso.date('must be a day such as 2026-01-31')

export const DailyCountsInput = z.strictObject({
  from: day.nullish().meta({
    description: `The first day, in UTC; by default ${DEFAULT_DAYS - 1} days before the last one.`,
    example: '2026-11-01',
  }),
  to: day.nullish().meta({
    description: `The last day, in UTC; by default today, or ${DEFAULT_DAYS - 1} days after \`from\`. At most ${MAX_DAYS} days are returned.`,
    example: '2026-11-30',
  }),
})

const count = z.int().min(0)

/** The methods, with a description of each in the words of the API. */
const METHODS = {
  ...METHOD_DESCRIPTIONS,
  ...SECOND_FACTOR_DESCRIPTIONS,
  unknown: 'An event of an earlier version does not name the method.',
}
export type CountedMethod = keyof typeof METHODS
export const COUNTED_METHODS = Object.keys(METHODS) as CountedMethod[]

export const MethodCountsShape = z
  .object({
    total: count.meta({ description: 'All of them.', example: 12 }),
    ...(Object.fromEntries(
      Object.entries(METHODS).map(([name, description]) => [name, count.meta({ description, example: 2 })]),
    ) as Record<CountedMethod, typeof count>),
  })
  .meta({ typeName: 'MethodCounts' })
export type MethodCounts = z.infer<typeof MethodCountsShape>

export const DailyCountShape = z
  .object({
    day: z.string().meta({ description: 'The day in UTC.', format: 'date', example: '2026-11-30' }),
    signIns: MethodCountsShape.meta({
      description:
        'Sign-ins on the hosted pages, by codes of the API, and repeated ones. Sessions of clients that follow a sign-in are not counted.',
    }),
    failedSignIns: MethodCountsShape.meta({ description: 'Sign-ins that were not accepted.' }),
    newUsers: count.meta({ description: 'Users who were created.', example: 3 }),
  })
  .meta({
    id: 'DailyCount',
    description: DAY_DESCRIPTION,
  })
export type DailyCount = z.infer<typeof DailyCountShape>

export const DailyCountsShape = z
  .object({ days: z.array(DailyCountShape).meta({ description: 'Each day of the period, oldest first.' }) })
  .meta({ id: 'DailyCounts', description: 'Numbers of sign-ins and of new users by day.' })
