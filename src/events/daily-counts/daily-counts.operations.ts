import { withPublicAccess, withScope } from '../../graphql/field-access.ts'
import { defineObjectType } from '../../graphql/shape-fields.ts'
import { defineComputedList } from '../../operations/query.ts'
import type { RestRoute } from '../../rest/route.ts'
import {
  DAY_DESCRIPTION,
  type DailyCount,
  DailyCountShape,
  DailyCountsInput,
  DailyCountsShape,
  MethodCountsShape,
} from './daily-counts.fields.ts'
import { countDays, getDailyCounts } from './daily-counts.ts'

const SCOPE = 'events:read'

defineObjectType(
  MethodCountsShape,
  withPublicAccess('Numbers by method. A sign-in by two factors is counted by the first one.'),
)

export const dailyCountOperations: readonly RestRoute[] = defineComputedList<DailyCount>({
  name: 'getDailyCounts',
  field: 'dailyCounts',
  summary: 'Numbers of sign-ins, failed sign-ins and new users of each day of a period.',
  scopes: [SCOPE],
  args: DailyCountsInput,
  members: 'days',
  ref: defineObjectType<DailyCount>(DailyCountShape, withScope(SCOPE, DAY_DESCRIPTION)),
  countItems: countDays,
  response: DailyCountsShape,
  path: '/daily-counts',
  run: getDailyCounts,
})
