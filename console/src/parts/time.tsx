import { useEffect, useState } from 'react'
import { language, t } from '../words/words.ts'

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' })
const absolute = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' })

function formatAgo(time: Date, now: number): string {
  const seconds = Math.round((time.getTime() - now) / 1000)
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? (['second', 1] as const)
  return Math.abs(seconds) < 10 ? t('now') : relative.format(Math.trunc(seconds / size), unit)
}

const REFRESH_MS = 30_000

/** How long ago a time was; the exact time is its title. */
export function Time({ at }: { at: string | null | undefined }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  if (!at) return <span className="none">{t('never')}</span>
  const time = new Date(at)
  return (
    <time dateTime={at} title={absolute.format(time)}>
      {formatAgo(time, Math.max(now, Date.now()))}
    </time>
  )
}
