import './filter-bar.css'
import { type ComponentType, Suspense, useId, useState } from 'react'
import { t } from '../words/words.ts'
import { useTypedText } from './typed-text.ts'

/** The filters, the search and the order of a list, as the URL has them. */
export type ListValues = Readonly<Record<string, string | undefined>>

/** A filter of a list. */
export type Filter = {
  name: string
  label: string
  /** Filters of one group combine; those without a group combine with all. */
  group?: string
} & (
  | { kind: 'choice'; options: readonly (readonly [value: string, label: string])[] }
  /** The options come from a query that is sent when the filter is chosen. */
  | { kind: 'loaded'; Options: ComponentType }
  | { kind: 'text'; placeholder: string }
  /** A day; the first is so many days ago. */
  | { kind: 'day'; daysAgo: number }
)

/** The filter by organization, for who may read organizations. */
export const ORGANIZATION_FILTER: Filter = {
  name: 'organization',
  label: t('Organization'),
  group: 'organization',
  kind: 'text',
  placeholder: 'organization_…',
}

const DAY_MS = 86_400_000
const FIRST_YEAR = 1970
/** The digits of a day follow each other within this time. */
const DAY_PAUSE_MS = 600

/** A day as `<input type="date">` has it. */
function formatDay(daysAgo: number): string {
  const day = new Date(Date.now() - daysAgo * DAY_MS)
  return [
    day.getFullYear(),
    String(day.getMonth() + 1).padStart(2, '0'),
    String(day.getDate()).padStart(2, '0'),
  ].join('-')
}

/** The begin of a day, in the time zone of the browser. */
export const toInstant = (day: string | undefined): string | undefined => {
  const time = day ? new Date(`${day}T00:00`) : undefined
  return time && !Number.isNaN(time.getTime()) ? time.toISOString() : undefined
}

/** The range of two days; undefined without one. */
export const toRange = (from: string | undefined, before: string | undefined) =>
  toInstant(from) || toInstant(before) ? { gte: toInstant(from), lt: toInstant(before) } : undefined

/**
 * The values after one was set or removed. The server does not combine filters of several groups, unless one without a group
 * is among them: then those of the group that was chosen last remain.
 */
export function changeValue(
  filters: readonly Filter[],
  free: readonly string[],
  values: ListValues,
  name: string,
  value: string | undefined,
): ListValues {
  const next = { ...values, [name]: value }
  const isFree = (one: string) =>
    free.includes(one) || filters.some((filter) => filter.name === one && !filter.group)
  if (Object.keys(next).some((one) => next[one] !== undefined && isFree(one))) return next
  const given = filters.filter((filter) => next[filter.name] !== undefined)
  const lead = given.find((filter) => filter.name === name) ?? given[0]
  const dropped = given.filter(({ group }) => group !== lead?.group)
  return { ...next, ...Object.fromEntries(dropped.map((filter) => [filter.name, undefined])) }
}

/** The filters of a list as chips, of which each can be changed and removed, and a menu of those that can be added. */
export function FilterBar({
  filters,
  values,
  onChange,
}: {
  filters: readonly Filter[]
  values: ListValues
  onChange: (name: string, value: string | undefined) => void
}) {
  // A filter that has no value yet.
  const [added, setAdded] = useState<string | null>(null)
  if (added !== null && values[added] !== undefined) setAdded(null)
  const isShown = ({ name }: Filter) => values[name] !== undefined || name === added
  const add = (name: string) => {
    const filter = filters.find((one) => one.name === name)
    if (filter?.kind === 'choice') onChange(name, filter.options[0]?.[0])
    else if (filter?.kind === 'day') onChange(name, formatDay(filter.daysAgo))
    else setAdded(name)
  }
  return (
    <div className="filters">
      {filters.filter(isShown).map((filter) => (
        <FilterChip
          key={filter.name}
          filter={filter}
          value={values[filter.name]}
          isNew={filter.name === added}
          onChange={(value) => {
            if (value === undefined) setAdded(null)
            onChange(filter.name, value)
          }}
        />
      ))}
      <select
        className="chip"
        aria-label={t('Add a filter')}
        value=""
        onChange={({ target }) => add(target.value)}
      >
        <option value="">{t('+ Filter')}</option>
        {filters
          .filter((filter) => !isShown(filter))
          .map(({ name, label }) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
      </select>
    </div>
  )
}

function FilterChip({
  filter,
  value,
  isNew,
  onChange,
}: {
  filter: Filter
  value: string | undefined
  isNew: boolean
  onChange: (value: string | undefined) => void
}) {
  const id = useId()
  return (
    <span className="chip filter">
      <label htmlFor={id}>{filter.label}</label>
      {filter.kind === 'choice' || filter.kind === 'loaded' ? (
        <select id={id} value={value ?? ''} onChange={({ target }) => onChange(target.value || undefined)}>
          {filter.kind === 'choice' ? (
            filter.options.map(([option, label]) => (
              <option key={option} value={option}>
                {label}
              </option>
            ))
          ) : (
            <>
              <option value="">{t('Choose…')}</option>
              <Suspense fallback={value && <option value={value}>{t('Loading…')}</option>}>
                <filter.Options />
              </Suspense>
            </>
          )}
        </select>
      ) : filter.kind === 'day' ? (
        <DayField id={id} day={value ?? ''} onChange={onChange} />
      ) : (
        <TextField
          id={id}
          placeholder={filter.placeholder}
          text={value ?? ''}
          isNew={isNew}
          onChange={onChange}
        />
      )}
      <button
        type="button"
        aria-label={t('Remove the filter “{label}”', { label: filter.label })}
        // The field keeps the focus: it would send its text first.
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => onChange(undefined)}
      >
        ✕
      </button>
    </span>
  )
}

type ChangeFilter = (value: string | undefined) => void

/** While a year is typed, its first digits are a year as well. */
const isDay = (text: string): boolean => Number(text.slice(0, 4)) >= FIRST_YEAR

function DayField({ id, day, onChange }: { id: string; day: string; onChange: ChangeFilter }) {
  const { entered, setEntered, send } = useTypedText({
    text: day,
    pauseMs: DAY_PAUSE_MS,
    accepts: isDay,
    onSend: onChange,
  })
  return (
    <input
      id={id}
      type="date"
      value={entered}
      onChange={({ target }) => setEntered(target.value)}
      onKeyDown={({ key }) => key === 'Enter' && send()}
      onBlur={send}
    />
  )
}

function TextField({
  id,
  placeholder,
  text,
  isNew,
  onChange,
}: {
  id: string
  placeholder: string
  text: string
  isNew: boolean
  onChange: ChangeFilter
}) {
  const { entered, setEntered, send } = useTypedText({ text, onSend: onChange })
  const finish = () => (entered.trim() === '' ? onChange(undefined) : send())
  return (
    <input
      id={id}
      placeholder={placeholder}
      // biome-ignore lint/a11y/noAutofocus: the person has just asked for this field
      autoFocus={isNew}
      value={entered}
      onChange={({ target }) => setEntered(target.value)}
      onKeyDown={({ key }) => key === 'Enter' && finish()}
      onBlur={finish}
    />
  )
}
