import { type KeyboardEvent, type PointerEvent, useState } from 'react'
import { formatNumber, language, t, tNodes } from '../../words/words.ts'

/** The numbers of a day: one for each series, in their order. */
export type DayCounts = { day: string; counts: readonly number[] }

const brief = new Intl.DateTimeFormat(language, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
})
const short = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' })
const long = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeZone: 'UTC' })
const compact = new Intl.NumberFormat(language, { notation: 'compact' })

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

/** The next round number. */
function roundUp(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)))
  return ([1, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= most) ?? 10) * power
}

/** The parts of a bar that has several, such as `Passkey 8`. */
const listParts = (counts: readonly number[], series: readonly string[]): string[] =>
  series.length > 1
    ? series.flatMap((name, index) => (counts[index] ? [`${name} ${formatNumber(counts[index])}`] : []))
    : []

/** The bars. A bar is one wide, and its neighbor begins at the next whole number. */
function Bars({ days, active, scale }: { days: readonly DayCounts[]; active: number | null; scale: number }) {
  return (
    <svg viewBox={`0 0 ${days.length} ${scale}`} preserveAspectRatio="none" aria-hidden="true">
      {active !== null && <rect className="active-day" x={active} y={0} width={1} height={scale} />}
      {days.map(({ day, counts }, index) =>
        counts.map((count, part) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a series is known by its place
            key={`${day} ${part}`}
            className={`series-${part}`}
            x={index + 0.12}
            width={0.76}
            y={scale - sum(counts.slice(0, part + 1))}
            height={count}
          />
        )),
      )}
    </svg>
  )
}

/** The numbers of a day, beside its bar. */
function DayNote({
  at,
  of,
  day: { day, counts },
  series,
}: {
  at: number
  of: number
  day: DayCounts
  series: readonly string[]
}) {
  const place = `${(100 * (at + 0.5)) / of}%`
  return (
    <div className="day-note" style={at < of / 2 ? { left: place } : { right: `calc(100% - ${place})` }}>
      <strong>{formatNumber(sum(counts))}</strong> {brief.format(new Date(day))}
      {listParts(counts, series).map((part) => (
        <p key={part}>{part}</p>
      ))}
    </div>
  )
}

/** The last days as a table, for those who read numbers. */
function DayTable({
  title,
  days,
  series,
}: {
  title: string
  days: readonly DayCounts[]
  series: readonly string[]
}) {
  return (
    <details className="day-table">
      <summary>
        {t('Numbers')} <span className="hidden">{t('of {title}', { title })}</span>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
      <section aria-label={t('{title}, numbers', { title })} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('Day (UTC)')}</th>
              {series.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...days].reverse().map(({ day, counts }) => (
              <tr key={day}>
                <th scope="row">{day}</th>
                {series.map((name, index) => (
                  <td key={name}>{counts[index]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  )
}

const MOVES: Record<string, (at: number, last: number) => number> = {
  ArrowLeft: (at) => at - 1,
  ArrowDown: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  ArrowUp: (at) => at + 1,
  Home: () => 0,
  End: (_at, last) => last,
}

/** Bars of the last days, stacked by series. Arrow keys and the pointer choose a day, whose numbers are shown. */
export function DailyChart({
  title,
  days,
  series,
}: {
  title: string
  days: readonly DayCounts[]
  series: readonly string[]
}) {
  const [chosen, setChosen] = useState<number | null>(null)
  const last = days.length - 1
  const active = chosen === null ? null : Math.min(chosen, last)
  const totals = series.map((_, index) => sum(days.map(({ counts }) => counts[index] ?? 0)))
  const scale = roundUp(Math.max(...days.map(({ counts }) => sum(counts))))
  const shown = days[active ?? last]
  if (!shown) return null
  const choose = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    const at = Math.floor(((event.clientX - left) / width) * days.length)
    setChosen(Math.max(0, Math.min(at, last)))
  }
  const move = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return setChosen(null)
    const next = MOVES[event.key]?.(active ?? last, last)
    if (next === undefined) return
    event.preventDefault()
    setChosen(Math.max(0, Math.min(next, last)))
  }
  return (
    <section className="card daily-chart">
      <h2>{title}</h2>
      <p className="none">
        {tNodes('{count} today', {
          count: <strong className="today">{formatNumber(sum(days[last]?.counts ?? []))}</strong>,
        })}{' '}
        · {t('{count} in {days} days', { count: sum(totals), days: days.length })}
      </p>
      <div
        className="plot"
        role="slider"
        tabIndex={0}
        aria-label={t('{title} by day', { title })}
        aria-valuemin={1}
        aria-valuemax={days.length}
        aria-valuenow={(active ?? last) + 1}
        aria-valuetext={[
          `${long.format(new Date(shown.day))}: ${sum(shown.counts)}`,
          ...listParts(shown.counts, series),
        ].join(', ')}
        onKeyDown={move}
        onFocus={() => setChosen((former) => former ?? last)}
        onBlur={() => setChosen(null)}
        onPointerMove={choose}
        onPointerDown={choose}
        onPointerLeave={() => setChosen(null)}
      >
        <span className="scale" aria-hidden="true">
          {compact.format(scale)}
        </span>
        <Bars days={days} active={active} scale={scale} />
        {sum(totals) === 0 && (
          <p className="none no-bars">{t('None in {days} days', { days: days.length })}</p>
        )}
        {active !== null && <DayNote at={active} of={days.length} day={shown} series={series} />}
      </div>
      <p className="ends none" aria-hidden="true">
        <span>{short.format(new Date(days[0]?.day ?? ''))}</span>
        <span>{t('Today')}</span>
      </p>
      {series.length > 1 && (
        <ul className="legend">
          {series.map((name, index) => (
            <li key={name} hidden={totals[index] === 0}>
              <span className={`series-${index}`} aria-hidden="true" /> {name}{' '}
              {formatNumber(totals[index] ?? 0)}
            </li>
          ))}
        </ul>
      )}
      <DayTable title={title} days={days} series={series} />
    </section>
  )
}
