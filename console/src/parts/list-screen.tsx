import './list-screen.css'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { OperationType } from 'relay-runtime'
import { ApiError } from '../api/api-error.ts'
import { BigList, type Column } from './big-list.tsx'
import { type BulkAction, BulkActionButton } from './bulk-actions.tsx'
import { CopiedText } from './copied-text.tsx'
import { changeValue, type Filter, FilterBar, type ListValues } from './filter-bar.tsx'
import { type ListExport, ListExportMenu } from './list-export.tsx'
import { ListViewMenu, useListView } from './list-view.tsx'
import { type ListQuery, useList } from './use-list.ts'

/** What streams tell a list: new rows, and rows that are gone before they were shown. */
export type LiveRows = { announce: (ids: readonly string[]) => void; withdraw: (id: string) => void }

/** The members that make a list of users or sessions. */
export type ListDefinition<Operation extends OperationType, Row, Data> = {
  title: string
  /** Of one row and of several, for the count. */
  nouns: readonly [one: string, many: string]
  empty: string
  /** The label of the field of search, if the list has one. */
  searchLabel?: string
  columns: readonly Column<Data>[]
  useRow: (row: Row) => Data
  query: ListQuery<Operation, Row>['query']
  getConnection: ListQuery<Operation, Row>['getConnection']
  toVariables: (values: ListValues) => ListQuery<Operation, Row>['variables']
  /** Whether the server can order by a column with these filters. */
  canSort: (column: string, values: ListValues) => boolean
  /** The actions on selected rows. */
  actions: readonly BulkAction[]
  exported: ListExport
  /** Follows changes from the position that the list has seen. */
  Live: (props: { after: string | null | undefined } & LiveRows) => ReactNode
}

/** New rows that are announced; of more, the number is of no use. */
const MAX_ANNOUNCED = 1000
const TYPED_MS = 200

/** The screen of a list: search, filters and order, which are in the URL, and its rows. */
export function ListScreen<Operation extends OperationType, Row extends { readonly id: string }, Data>({
  definition,
  filters,
  action,
}: {
  definition: ListDefinition<Operation, Row, Data>
  filters: readonly Filter[]
  /** A button beside the title, such as one for a new row. */
  action?: ReactNode
}) {
  const { title, nouns, searchLabel, canSort, Live } = definition
  const values = useSearch({ strict: false }) as ListValues
  const navigate = useNavigate()
  const [fresh, setFresh] = useState<readonly string[]>([])
  const variables = definition.toVariables(values)
  const { shown, isStale, problem, retry, refresh } = useList<Operation, Row>({
    query: definition.query,
    getConnection: definition.getConnection,
    variables,
  })
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  // All rows are those of one filter.
  const [allOf, setAllOf] = useState<string | null>(null)
  const isAll = allOf === JSON.stringify(variables)
  const clear = (): void => {
    setIds(new Set())
    setAllOf(null)
  }
  const view = useListView(title.toLowerCase(), definition.columns)
  const ordering = {
    sort: values.sort,
    canSort: (column: string) => canSort(column, values),
    onSort: (sort: string | undefined) => change('sort', sort),
  }
  const change = (name: string, value: string | undefined, replace = false): void => {
    const next = changeValue(filters, ['search'], values, name, value)
    const column = next.sort?.replace(/^-/, '')
    const search = column && !canSort(column, next) ? { ...next, sort: undefined } : next
    void navigate({ to: '.', search, replace })
  }
  const pages = shown?.pages
  const loaded = new Set<string>()
  for (const { id } of pages?.rows() ?? []) loaded.add(id)
  const freshCount = new Set(fresh.filter((id) => !loaded.has(id))).size
  const total = pages?.total
  return (
    <section className="screen whole">
      <header className="screen-head">
        <h1>{title}</h1>
        {searchLabel && (
          <SearchField
            label={searchLabel}
            value={values.search ?? ''}
            onChange={(text) => change('search', text || undefined, true)}
          />
        )}
        <FilterBar filters={filters} values={values} onChange={change} />
        <ListExportMenu
          list={nouns[1]}
          exported={definition.exported}
          variables={variables}
          total={total ?? 0}
          ids={ids.size > 0 && !isAll ? [...ids] : null}
        />
        <ListViewMenu columns={definition.columns} view={view} {...ordering} />
        {action}
      </header>
      {shown && (
        <Live
          after={shown.position}
          announce={(ids) => setFresh((former) => [...former, ...ids].slice(-MAX_ANNOUNCED))}
          withdraw={(id) => setFresh((former) => former.filter((other) => other !== id))}
        />
      )}
      <div className="list-state">
        <p className="count" role="status">
          {total !== undefined && `${total.toLocaleString('en')} ${nouns[total === 1 ? 0 : 1]}`}
          {freshCount > 0 && (
            <button
              type="button"
              className="chip fresh"
              onClick={() => {
                setFresh([])
                refresh()
              }}
            >
              {freshCount} new: show
            </button>
          )}
        </p>
        {(isAll || ids.size > 0) && (
          <div className="chips selection" role="status">
            <strong>
              {isAll
                ? `All ${total?.toLocaleString('en')} that match`
                : `${ids.size.toLocaleString('en')} selected`}
            </strong>
            {!isAll &&
              definition.actions.map((action) => (
                <BulkActionButton key={action.label} action={action} ids={[...ids]} nouns={nouns} />
              ))}
            {!isAll && total !== undefined && total > ids.size && (
              <button type="button" className="chip" onClick={() => setAllOf(JSON.stringify(variables))}>
                Select all {total.toLocaleString('en')} that match
              </button>
            )}
            <button type="button" className="chip" onClick={clear}>
              Clear
            </button>
          </div>
        )}
      </div>
      {problem !== null && (
        <div className="problem" role="alert">
          <p>{problem.message}</p>
          {problem instanceof ApiError && problem.requestId && (
            <p>
              Number of the request: <CopiedText text={problem.requestId} />
            </p>
          )}
          <button type="button" className="button quiet" onClick={retry}>
            Try again
          </button>
        </div>
      )}
      {total === 0 ? (
        <p className="empty">{definition.empty}</p>
      ) : (
        <BigList
          label={title}
          list={shown}
          isStale={isStale}
          isDense={view.isDense}
          columns={view.shown}
          useRow={definition.useRow}
          {...ordering}
          selection={{
            ids,
            isAll,
            toggle: (id, isSelected) => {
              // All but one row is not a filter.
              if (isAll) clear()
              else
                setIds((former) => {
                  const next = new Set(former)
                  if (isSelected) next.add(id)
                  else next.delete(id)
                  return next
                })
            },
            toggleAll: (isSelected) => (isSelected ? setAllOf(JSON.stringify(variables)) : clear()),
          }}
        />
      )}
    </section>
  )
}

/** A field that searches as one types. */
function SearchField({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (text: string) => void
}) {
  const [entered, setEntered] = useState(value)
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => setEntered(value), [value])
  useEffect(() => {
    if (entered === value) return
    const timer = setTimeout(() => latest.current(entered), TYPED_MS)
    return () => clearTimeout(timer)
  }, [entered, value])
  return (
    <search>
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={entered}
        onChange={({ target }) => setEntered(target.value)}
      />
    </search>
  )
}
