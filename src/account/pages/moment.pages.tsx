import type { VNode } from 'preact'

const formatters = new Map<string, Intl.DateTimeFormat>()

/** The format of a time zone; that of UTC for one that this runtime does not know. */
function getFormatter(timeZone: string): Intl.DateTimeFormat {
  const options = { dateStyle: 'medium', timeStyle: 'short' } as const
  const known = formatters.get(timeZone)
  if (known) return known
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en', { ...options, timeZone })
  } catch {
    format = new Intl.DateTimeFormat('en', { ...options, timeZone: 'UTC' })
  }
  formatters.set(timeZone, format)
  return format
}

/** A time in the user's time zone, or in UTC, which it then names. */
export const Moment = ({ at, timeZone }: { at: Date; timeZone: string | null }): VNode => (
  <time datetime={at.toISOString()}>
    {getFormatter(timeZone ?? 'UTC').format(at)}
    {timeZone ? '' : ' UTC'}
  </time>
)
