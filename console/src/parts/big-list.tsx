import './big-list.css'
import {
  type ComponentType,
  type CSSProperties,
  type KeyboardEvent,
  memo,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { flushSync } from 'react-dom'
import { t } from '../words/words.ts'
import { createScrollScale, moveWithScrollbar, type ScrollPlace } from './scroll-scale.ts'
import { keepRow, type ShownList } from './use-list.ts'

/** A column of a list of rows whose fields are `Data`. */
export type Column<Data> = {
  name: string
  label: string
  /** The least width in pixels, and the share of the width that is left. */
  width: number
  grow: number
  /** The direction of its first order; undefined when the list has no order by it. */
  sort?: 'ascending' | 'descending'
  /** Where a phone shows it, whose rows have two lines; the first column begins them. */
  phone?: 'end' | 'second'
  /** Shown to those who choose it. */
  isOptional?: boolean
  render: (data: Data) => ReactNode
}

/** The rows that are selected, or all of the list. */
export type Selection = {
  ids: ReadonlySet<string>
  isAll: boolean
  toggle: (id: string, isSelected: boolean) => void
  toggleAll: (isSelected: boolean) => void
}

/** Rows beyond the visible ones that are there already when one scrolls. */
const SPARE_ROWS = 12
/** The rendered rows change in steps of so many. */
const STEP_ROWS = 4
const SETTLED_MS = 150
/** The width of the checkboxes. */
const PICK_WIDTH = '40px'

/** In pixels: of rows of a line, and of the two lines that a phone shows; each as they are, and when they are low. */
const ROW_HEIGHTS = { line: [44, 32], phone: [60, 50] } as const

const phone = matchMedia('(max-width: 760px)')
const watchPhone = (listener: () => void): (() => void) => {
  phone.addEventListener('change', listener)
  return () => phone.removeEventListener('change', listener)
}

/** The rows that are rendered, and how far they are moved from the start of the scrolled element. */
type RowWindow = { from: number; to: number; base: number }

/**
 * A list with the scrollbar of all of its rows, which are loaded where the thumb lands. `useRow` reads the fields of a row from
 * the store, so that a row follows changes. Keyboard: arrows, Page Up, Page Down, Home, End; Enter opens the row, and Space
 * selects it, with Shift all rows from the one before.
 */
export function BigList<Row extends { readonly id: string }, Data>({
  label,
  list,
  isStale,
  isDense,
  columns,
  useRow,
  sort,
  canSort,
  onSort,
  selection,
}: {
  label: string
  /** Null until the first rows have arrived. */
  list: ShownList<Row> | null
  isStale: boolean
  isDense: boolean
  columns: readonly Column<Data>[]
  useRow: (row: Row) => Data
  /** The column of the order, with a minus when it descends. */
  sort: string | undefined
  canSort: (column: string) => boolean
  onSort: (sort: string | undefined) => void
  /** Rows cannot be selected without it. */
  selection?: Selection
}) {
  const isPhone = useSyncExternalStore(watchPhone, () => phone.matches)
  const rowHeight = ROW_HEIGHTS[isPhone ? 'phone' : 'line'][isDense ? 1 : 0]
  const id = useId()
  const scroller = useRef<HTMLDivElement>(null)
  const head = useRef<HTMLTableSectionElement>(null)
  const place = useRef<ScrollPlace>({ scrollTop: 0, top: 0 })
  const [viewport, setViewport] = useState(0)
  const [rows, setRows] = useState<RowWindow>({ from: 0, to: 0, base: 0 })
  const [active, setActive] = useState(0)
  const pages = list?.pages
  const total = pages?.total ?? Math.ceil(viewport / rowHeight)
  const scale = createScrollScale(total * rowHeight, viewport)

  /** Renders and loads the rows of the place. */
  const showPlace = (): void => {
    const { scrollTop, top } = place.current
    const first = Math.floor(top / rowHeight)
    const end = Math.min(first + Math.ceil(viewport / rowHeight) + 1, total)
    pages?.show(first, end)
    const from = Math.max(Math.floor((first - SPARE_ROWS) / STEP_ROWS) * STEP_ROWS, 0)
    const to = Math.min(Math.ceil((end + SPARE_ROWS) / STEP_ROWS) * STEP_ROWS, total)
    const base = scrollTop - top
    setRows((former) =>
      former.from === from && former.to === to && former.base === base ? former : { from, to, base },
    )
  }

  /** Moves the list, and the thumb to where it belongs. */
  const moveTo = (top: number): void => {
    const element = scroller.current
    if (!element) return
    const within = Math.min(Math.max(top, 0), scale.maxTop)
    element.scrollTop = scale.toScrollTop(within)
    place.current = { scrollTop: element.scrollTop, top: within }
    showPlace()
  }

  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    const measure = () => setViewport(element.clientHeight - (head.current?.offsetHeight ?? 0))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  // Another list begins at its first row, a list that is shown again where it was left.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it moves for another list or size only
  useLayoutEffect(() => {
    const firstRow = list?.firstRow ?? 0
    setActive(Math.ceil(firstRow))
    moveTo(firstRow * rowHeight)
  }, [list])
  // biome-ignore lint/correctness/useExhaustiveDependencies: it moves for another list or size only
  useLayoutEffect(() => moveTo(place.current.top), [viewport, total])
  const formerHeight = useRef(rowHeight)
  // The first row stays when rows become lower or higher.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it moves for another list or size only
  useLayoutEffect(() => {
    moveTo((place.current.top / formerHeight.current) * rowHeight)
    formerHeight.current = rowHeight
  }, [rowHeight])

  const settle = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(settle.current), [])
  const onScroll = (): void => {
    const element = scroller.current
    if (!element) return
    place.current = moveWithScrollbar(scale, place.current, element.scrollTop)
    // The rows are there when the browser paints the position.
    flushSync(showPlace)
    clearTimeout(settle.current)
    settle.current = setTimeout(() => {
      const { top } = place.current
      keepRow(top / rowHeight)
      if (scale.toScrollTop(top) !== Math.round(place.current.scrollTop)) moveTo(top)
    }, SETTLED_MS)
  }

  const activate = (index: number): void => {
    const row = Math.min(Math.max(index, 0), total - 1)
    setActive(row)
    const { top } = place.current
    const [start, end] = [row * rowHeight, (row + 1) * rowHeight]
    if (start < top) moveTo(start)
    else if (end > top + viewport) moveTo(end - viewport)
  }
  const findRow = (index: number): HTMLElement | null => document.getElementById(`${id}-${index}`)
  // The row from which Shift selects.
  const anchor = useRef(0)
  const select = (index: number, isRange: boolean): void => {
    const row = pages?.getRow(index)
    if (!row || !selection) return
    const isSelected = !selection.ids.has(row.id)
    const [from, to] = isRange
      ? [Math.min(anchor.current, index), Math.max(anchor.current, index)]
      : [index, index]
    for (let at = from; at <= to; at += 1) {
      const { id } = pages?.getRow(at) ?? {}
      if (id !== undefined) selection.toggle(id, isSelected)
    }
    anchor.current = index
  }
  const latestSelect = useRef(select)
  latestSelect.current = select
  const [selectRow] = useState(
    () => (index: number, isRange: boolean) => latestSelect.current(index, isRange),
  )
  const onKeyDown = (event: KeyboardEvent): void => {
    // The controls of a row and of the head have keys of their own.
    if (event.target !== event.currentTarget || event.altKey || event.metaKey) return
    const screen = Math.max(Math.floor(viewport / rowHeight) - 1, 1)
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + screen,
      PageUp: active - screen,
      Home: 0,
      End: total - 1,
    }
    const target = moves[event.key]
    if (target !== undefined) activate(target)
    else if (event.key === 'Enter') findRow(active)?.querySelector('a')?.click()
    else if (event.key === ' ') select(active, event.shiftKey)
    else return
    event.preventDefault()
  }

  const style = {
    '--row': `${rowHeight}px`,
    '--columns': [
      ...(selection ? [PICK_WIDTH] : []),
      ...columns.map(({ width, grow }) => `minmax(${width}px, ${grow}fr)`),
    ].join(' '),
    minWidth: isPhone
      ? undefined
      : columns.reduce((sum, { width }) => sum + width, selection ? Number.parseInt(PICK_WIDTH, 10) : 0),
  } as CSSProperties
  const isActiveRendered = active >= rows.from && active < rows.to
  return (
    <div
      className="big-list"
      ref={scroller}
      onScroll={onScroll}
      data-stale={isStale || undefined}
      data-dense={isDense || undefined}
    >
      <table
        className="rows"
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table whose rows can be walked is a grid
        role="grid"
        tabIndex={0}
        aria-label={label}
        aria-rowcount={pages ? total + 1 : -1}
        aria-busy={isStale}
        aria-multiselectable={selection !== undefined}
        aria-activedescendant={isActiveRendered ? `${id}-${active}` : undefined}
        onKeyDown={onKeyDown}
        style={style}
      >
        <thead ref={head}>
          <tr aria-rowindex={1}>
            {selection && (
              <th scope="col">
                <input
                  type="checkbox"
                  aria-label={t('All that match')}
                  checked={selection.isAll}
                  onChange={({ target }) => selection.toggleAll(target.checked)}
                />
              </th>
            )}
            {columns.map((column) => (
              <HeadCell
                key={column.name}
                column={column}
                sort={sort}
                isSortable={column.sort !== undefined && canSort(column.name)}
                onSort={onSort}
              />
            ))}
          </tr>
        </thead>
        <tbody style={{ height: scale.height }}>
          {Array.from({ length: Math.max(Math.min(rows.to, total) - rows.from, 0) }, (_, offset) => {
            const index = rows.from + offset
            const row = pages?.getRow(index)
            return (
              <ListRow
                key={index}
                id={`${id}-${index}`}
                index={index}
                y={index * rowHeight + rows.base}
                row={row}
                isActive={index === active}
                isSelected={
                  selection && (selection.isAll || (row !== undefined && selection.ids.has(row.id)))
                }
                activate={setActive}
                select={selectRow}
                columns={columns as readonly Column<unknown>[]}
                useRow={useRow as (row: object) => unknown}
              />
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** The orders that clicks on a column go through; undefined is the order of the list itself. */
export const listOrders = ({
  name,
  sort,
}: Pick<Column<never>, 'name' | 'sort'>): readonly (string | undefined)[] =>
  sort === 'descending' ? [undefined, `-${name}`, name] : [undefined, name, `-${name}`]

function HeadCell<Data>({
  column,
  sort,
  isSortable,
  onSort,
}: {
  column: Column<Data>
  sort: string | undefined
  isSortable: boolean
  onSort: (sort: string | undefined) => void
}) {
  const orders = listOrders(column)
  const place = sort === undefined ? 0 : orders.indexOf(sort)
  const direction = place < 1 ? undefined : sort === column.name ? 'ascending' : 'descending'
  return (
    <th scope="col" data-phone={column.phone} aria-sort={direction}>
      {isSortable ? (
        <button
          type="button"
          className="sort"
          onClick={() => onSort(orders[(Math.max(place, 0) + 1) % orders.length])}
        >
          {column.label}
          <span aria-hidden="true">
            {direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : '↕'}
          </span>
        </button>
      ) : (
        column.label
      )}
    </th>
  )
}

type RowProps = {
  id: string
  index: number
  y: number
  row: object | undefined
  isActive: boolean
  /** Undefined where rows cannot be selected. */
  isSelected: boolean | undefined
  activate: (index: number) => void
  select: (index: number, isRange: boolean) => void
  columns: readonly Column<unknown>[]
  useRow: (row: object) => unknown
}

const ListRow: ComponentType<RowProps> = memo(function ListRow({
  id,
  index,
  y,
  row,
  isActive,
  isSelected,
  activate,
  select,
  columns,
  useRow,
}: RowProps) {
  return (
    <tr
      id={id}
      aria-rowindex={index + 2}
      data-active={isActive || undefined}
      aria-selected={isSelected}
      style={{ transform: `translateY(${y}px)` }}
      onClick={({ target, currentTarget }) => {
        activate(index)
        if (target instanceof Element && !target.closest('a, button, input, label') && isNothingSelected())
          currentTarget.querySelector('a')?.click()
      }}
    >
      {isSelected !== undefined && (
        <td className="pick">
          <label>
            <input
              type="checkbox"
              tabIndex={-1}
              aria-labelledby={`${id}-head`}
              disabled={!row}
              checked={isSelected}
              onChange={({ nativeEvent }) => select(index, (nativeEvent as MouseEvent).shiftKey)}
            />
          </label>
        </td>
      )}
      {row ? (
        <Cells id={`${id}-head`} row={row} columns={columns} useRow={useRow} />
      ) : (
        columns.map(({ name, phone }, column) =>
          column === 0 ? (
            <th key={name} scope="row" id={`${id}-head`}>
              <span className="hidden">{t('Loading')}</span>
              <span className="bone" />
            </th>
          ) : (
            <td key={name} data-phone={phone}>
              <span className="bone" />
            </td>
          ),
        )
      )}
    </tr>
  )
})

/** A text that is selected by the mouse is copied, not opened. */
const isNothingSelected = (): boolean => getSelection()?.isCollapsed ?? true

function Cells({ id, row, columns, useRow }: Pick<RowProps, 'id' | 'columns' | 'useRow'> & { row: object }) {
  const data = useRow(row)
  return columns.map(({ name, phone, render }, column) =>
    column === 0 ? (
      <th key={name} scope="row" id={id}>
        {render(data)}
      </th>
    ) : (
      <td key={name} data-phone={phone}>
        {render(data)}
      </td>
    ),
  )
}
