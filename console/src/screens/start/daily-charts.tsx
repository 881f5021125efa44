import { useEffect, useRef } from 'react'
import { fetchQuery, graphql, useFragment, useRelayEnvironment } from 'react-relay/hooks'
import type {
  dailyCharts_query$data,
  dailyCharts_query$key,
} from '../../generated/dailyCharts_query.graphql.ts'
import type { dailyChartsQuery } from '../../generated/dailyChartsQuery.graphql.ts'
import type { dailyChartsSubscription } from '../../generated/dailyChartsSubscription.graphql.ts'
import { useLive } from '../../parts/live-events.ts'
import { DailyChart } from './daily-chart.tsx'
import './daily-chart.css'
import { t } from '../../words/words.ts'

type Day = NonNullable<dailyCharts_query$data['dailyCounts']>[number]
type MethodCounts = Day['signIns']

/** The series of a chart of sign-ins, and the methods that each has. */
const SERIES: Record<string, (counts: MethodCounts) => number> = {
  [t('Passkey')]: ({ passkey }) => passkey,
  [t('Code')]: ({ passcode }) => passcode,
  [t('Identity provider')]: ({ provider }) => provider,
  [t('Second factor')]: ({ totp, recovery }) => totp + recovery,
  [t('Unknown')]: ({ unknown }) => unknown,
}
const SERIES_NAMES = Object.keys(SERIES)
const toSeries = (counts: MethodCounts): number[] => Object.values(SERIES).map((count) => count(counts))

/** The charts are read again at most so often while events arrive. */
const REFRESH_MS = 3000

/** Calls `refresh` after an event that is counted: at once, and at most every REFRESH_MS. */
function useRefreshAfterEvents(after: string | null | undefined, refresh: () => void): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const refreshedAt = useRef(0)
  // The stream outlives the function of a rendering.
  const latest = useRef(refresh)
  latest.current = refresh
  useEffect(() => () => clearTimeout(timer.current), [])
  useLive<dailyChartsSubscription>({
    subscription: graphql`
      subscription dailyChartsSubscription($after: String) {
        events(
          after: $after
          types: [SESSION_STARTED, SESSION_REAUTHENTICATED, SIGNIN_FAILED, USER_CREATED]
        ) {
          position
        }
      }
    `,
    variables: { after },
    onNext: () => {
      if (timer.current !== undefined) return
      timer.current = setTimeout(
        () => {
          timer.current = undefined
          refreshedAt.current = Date.now()
          latest.current()
        },
        Math.max(0, refreshedAt.current + REFRESH_MS - Date.now()),
      )
    },
  })
}

/** Sign-ins, failed sign-ins and new users of the last 30 days. */
export function DailyCharts({
  query,
  after,
}: {
  query: dailyCharts_query$key
  after: string | null | undefined
}) {
  const environment = useRelayEnvironment()
  const { dailyCounts } = useFragment(
    graphql`
      fragment dailyCharts_query on Query {
        dailyCounts {
          day
          signIns {
            passcode
            passkey
            provider
            totp
            recovery
            unknown
          }
          failedSignIns {
            passcode
            passkey
            provider
            totp
            recovery
            unknown
          }
          newUsers
        }
      }
    `,
    query,
  )
  useRefreshAfterEvents(after, () =>
    fetchQuery<dailyChartsQuery>(
      environment,
      graphql`
        query dailyChartsQuery {
          ...dailyCharts_query
        }
      `,
      {},
    ).subscribe({}),
  )
  if (!dailyCounts) return null
  return (
    <>
      <DailyChart
        title={t('Sign-ins')}
        series={SERIES_NAMES}
        days={dailyCounts.map(({ day, signIns }) => ({ day, counts: toSeries(signIns) }))}
      />
      <DailyChart
        title={t('Failed sign-ins')}
        series={SERIES_NAMES}
        days={dailyCounts.map(({ day, failedSignIns }) => ({ day, counts: toSeries(failedSignIns) }))}
      />
      <DailyChart
        title={t('New users')}
        series={[t('Users')]}
        days={dailyCounts.map(({ day, newUsers }) => ({ day, counts: [newUsers] }))}
      />
    </>
  )
}
