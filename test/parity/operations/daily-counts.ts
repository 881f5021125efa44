import type { Call, Gql, Rest } from '../call.ts'
import { select } from '../queries.ts'

const PERIODS: Record<string, string>[] = [
  { from: 'yesterday', to: '2026-13-01' },
  { from: '2026-03-01', to: '2026-02-01' },
  { from: '2024-01-01', to: '2026-01-01' },
  { from: '2026-01-01', to: '2026-01-02' },
  {},
]

const COUNTS = select('MethodCounts')

export const DAILY_COUNT_OPERATIONS: Record<string, Call[]> = {
  getDailyCounts: PERIODS.map((period) => ({
    title: JSON.stringify(period),
    rest: (): Rest => ['GET', `/daily-counts?${new URLSearchParams(period)}`],
    gql: (): Gql => ({
      query: `query($from: String, $to: String) { result: dailyCounts(from: $from, to: $to) { day newUsers signIns ${COUNTS} failedSignIns ${COUNTS} } }`,
      variables: period,
      read: ({ result }) => ({ days: result }),
    }),
  })),
}
