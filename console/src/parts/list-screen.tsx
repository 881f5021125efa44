import './list-screen.css'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { OperationType } from 'relay-runtime'
import { t } from '../words/words.ts'
import { BigList, type Column } from './big-list.tsx'
import { type BulkAction, BulkActionButton, type JobDialogProps } from './bulk-actions.tsx'
import { changeValue, type Filter, FilterBar, type ListValues } from './filter-bar.tsx'
import { type ListExport, ListExportMenu } from './list-export.tsx'
import { ListViewMenu, useListView } from './list-view.tsx'
import { MAX_ANNOUNCED } from './live-events.ts'
import { QueryProblem } from './query-problem.tsx'
import { SearchBox } from './search-box.tsx'
import { type ListQuery, useList } from './use-list.ts'

/** What streams tell a list: new rows, and rows that are gone before they were shown. */
export type LiveRows = {
  announce: (ids: readonly string[]) => void
  withdraw: (id: string) => void
}

/** The members that make a list. */
export type ListDefinition<Operation extends OperationType, Row, Data> = {
  title: string
  /** How the list is called in names of files. */
  name: string
  describeCount: (count: number) => string
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
  /** Makes an action a job of the server. */
  JobDialog?: (props: JobDialogProps) => ReactNode
  exported: ListExport
  /** Whether new rows are shown as they arrive, and not on demand, with these filters. */
  isTail?: (values: ListValues) => boolean
  /** Follows changes from the position that the list has seen. */
  Live: (props: { after: string | null | undefined } & LiveRows) => ReactNode
}

/** Rows that arrive within this time are read at once. */
const FOLLOWED_MS = 700

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
  const { title, name, describeCount, searchLabel, canSort, Live } = definition
  const values = useSearch({ strict: false }) as ListValues
  const navigate = useNavigate()
  const [fresh, setFresh] = useState<readonly string[]>([])
  const variables = definition.toVariables(values)
  const { shown, isStale, problem, retry, refresh } = useList<Operation, Row>({
    query: definition.query,
    getConnection: definition.getConnection,
    variables,
  })
  const [isPaused, setIsPaused] = useState(false)
  const isTail = definition.isTail?.(values) ?? false
  const reading = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(reading.current), [])
  /** Reads new rows after a moment, together. False for a list that is scrolled or paused: it shows their number. */
  const follow = (): boolean => {
    const scrolled = document.querySelector('.big-list')?.scrollTop ?? 0
    if (!isTail || isPaused || scrolled > 0) return false
    reading.current ??= setTimeout(() => {
      reading.current = undefined
      refresh()
    }, FOLLOWED_MS)
    return true
  }
  // A stream keeps the function of its first rendering.
  const latestFollow = useRef(follow)
  latestFollow.current = follow
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [isAll, setIsAll] = useState(false)
  const clear = (): void => {
    setIds(new Set())
    setIsAll(false)
  }
  // Rows that one does not see any more must not be locked.
  const filter = JSON.stringify({ ...values, sort: undefined })
  const [selectedFrom, setSelectedFrom] = useState(filter)
  if (selectedFrom !== filter) {
    setSelectedFrom(filter)
    clear()
  }
  const view = useListView(name, definition.columns)
  const ordering = {
    sort: values.sort,
    canSort: (column: string) => canSort(column, values),
    onSort: (sort: string | undefined) => change('sort', sort),
  }
  const change = (name: string, value: string | undefined, replace = false): void => {
    // Another change may be on its way to the URL.
    const search = (former: ListValues): ListValues => {
      const next = changeValue(filters, ['search'], former, name, value)
      const column = next.sort?.replace(/^-/, '')
      return column && !canSort(column, next) ? { ...next, sort: undefined } : next
    }
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
          <SearchBox
            label={searchLabel}
            search={values.search ?? ''}
            onSearch={(text) => change('search', text || undefined, true)}
          />
        )}
        <FilterBar filters={filters} values={values} onChange={change} />
        <ListExportMenu
          list={name}
          describeCount={describeCount}
          exported={definition.exported}
          variables={variables}
          total={total ?? 0}
          ids={ids.size > 0 && !isAll ? [...ids] : null}
        />
        <ListViewMenu columns={definition.columns} view={view} {...ordering} />
        {isTail && (
          <button
            type="button"
            className="chip"
            aria-pressed={isPaused}
            onClick={() => {
              if (isPaused) {
                setFresh([])
                refresh()
              }
              setIsPaused(!isPaused)
            }}
          >
            {isPaused ? t('Resume') : t('Pause')}
          </button>
        )}
        {action}
      </header>
      {shown && (
        <Live
          after={shown.position}
          announce={(ids) => {
            if (!latestFollow.current()) setFresh((former) => [...former, ...ids].slice(-MAX_ANNOUNCED))
          }}
          withdraw={(id) => setFresh((former) => former.filter((other) => other !== id))}
        />
      )}
      <div className="list-state">
        <p className="count" role="status">
          {isTail && !isPaused && <span className="pulse" title={t('Live')} />}
          {total !== undefined && describeCount(total)}
          {freshCount > 0 && (
            <button
              type="button"
              className="chip fresh"
              onClick={() => {
                setFresh([])
                refresh()
              }}
            >
              {t('{count} new: show', { count: freshCount })}
            </button>
          )}
        </p>
        {(isAll || ids.size > 0) && (
          <div className="chips selection" role="status">
            <strong>
              {isAll ? t('All {total} that match', { total }) : t('{count} selected', { count: ids.size })}
            </strong>
            {definition.actions.map((action) => (
              <BulkActionButton
                key={action.label}
                action={action}
                ids={isAll ? null : [...ids]}
                count={isAll ? (total ?? 0) : ids.size}
                variables={variables}
                describeCount={describeCount}
                JobDialog={definition.JobDialog}
              />
            ))}
            {!isAll && total !== undefined && total > ids.size && (
              <button type="button" className="chip" onClick={() => setIsAll(true)}>
                {t('Select all {total} that match', { total })}
              </button>
            )}
            <button type="button" className="chip" onClick={clear}>
              {t('Clear')}
            </button>
          </div>
        )}
      </div>
      {problem !== null && <QueryProblem error={problem} onRetry={retry} />}
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
          selection={
            definition.actions.length === 0
              ? undefined
              : {
                  ids,
                  isAll,
                  toggle: (id, isSelected) => {
                    // The rows of the former filter are still shown.
                    if (isStale) return
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
                  toggleAll: (isSelected) => (isSelected ? setIsAll(true) : clear()),
                }
          }
        />
      )}
    </section>
  )
}
