import { useMemo, useState } from 'react'
import { t } from '../words/words.ts'
import { type Column, listOrders } from './big-list.tsx'
import { CheckField } from './form.tsx'

/** How a person wants to see a list. */
type View = { columns: readonly string[]; isDense: boolean }

/** What is stored, as far as it is still of use. */
function readView(key: string, columns: readonly Column<never>[]): View {
  const given = columns.filter(({ isOptional }) => !isOptional).map(({ name }) => name)
  try {
    const stored = JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<View>
    const known = columns.map(({ name }) => name).filter((name) => stored.columns?.includes(name))
    return { columns: known.length > 0 ? known : given, isDense: stored.isDense === true }
  } catch {
    return { columns: given, isDense: false }
  }
}

/** The columns and the density of a list, which this browser keeps. The first column is always there. */
export function useListView<Data>(list: string, columns: readonly Column<Data>[]) {
  const key = `console.list.${list}`
  const [view, setView] = useState(() => readView(key, columns))
  const shown = useMemo(
    () => columns.filter(({ name }, index) => index === 0 || view.columns.includes(name)),
    [columns, view],
  )
  const change = (changed: Partial<View>): void => {
    const next = { ...view, ...changed }
    localStorage.setItem(key, JSON.stringify(next))
    setView(next)
  }
  return { shown, isDense: view.isDense, change }
}

/** The menu of the columns, the density, and the order, for which a phone has no head to click. */
export function ListViewMenu<Data>({
  columns,
  view: { shown, isDense, change },
  sort,
  canSort,
  onSort,
}: {
  columns: readonly Column<Data>[]
  view: ReturnType<typeof useListView<Data>>
  sort: string | undefined
  canSort: (column: string) => boolean
  onSort: (sort: string | undefined) => void
}) {
  const sortable = columns.filter(({ name, sort: first }) => first && canSort(name))
  return (
    <details
      className="menu"
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Escape') currentTarget.open = false
      }}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget))
          currentTarget.open = false
      }}
    >
      <summary className="chip">{t('View')}</summary>
      <div className="form">
        {sortable.length > 0 && (
          <label>
            {t('Order')}
            <select value={sort ?? ''} onChange={({ target }) => onSort(target.value || undefined)}>
              <option value="">{t('Of the list')}</option>
              {sortable.flatMap((column) =>
                listOrders(column).flatMap((order) =>
                  order === undefined ? (
                    []
                  ) : (
                    <option key={order} value={order}>
                      {column.label} {order.startsWith('-') ? '↓' : '↑'}
                    </option>
                  ),
                ),
              )}
            </select>
          </label>
        )}
        <CheckField label={t('Low rows')} checked={isDense} onChange={(isOn) => change({ isDense: isOn })} />
        <fieldset className="form">
          <legend>{t('Columns')}</legend>
          {columns.slice(1).map(({ name, label }) => (
            <CheckField
              key={name}
              label={label}
              checked={shown.some((column) => column.name === name)}
              onChange={(isOn) => {
                const others = shown.map((column) => column.name).filter((other) => other !== name)
                change({ columns: isOn ? [...others, name] : others })
              }}
            />
          ))}
        </fieldset>
      </div>
    </details>
  )
}
