import { computeMac, computeMacs, equalsConstantTime } from '../core/crypto.ts'
import { type FieldIssue, InvalidInput } from '../core/errors.ts'
import { estimateJson } from '../core/json/json-size.ts'
import { PAGE_BYTES, ReadLimit } from '../core/network/read-limit.ts'
import { mapInTurns } from '../core/turns.ts'
import type { Workload } from '../core/workload.ts'
import { PARSE_OPTIONS, toFieldIssues } from './input-shapes.ts'
import { DIRECTION, type Filter, type FilterMember, type Given, type Order } from './lists.ts'

export const DEFAULT_PAGE_SIZE = 50
export const MAX_PAGE_SIZE = 1000
/**
 * Keeps `page * pageSize` within the range of exact JavaScript integers and of PostgreSQL's bigint OFFSET.
 */
export const MAX_PAGE = 1_000_000_000

/** Arguments of every list: page and pageSize, or one Relay direction. */
export type PageArgs = {
  page?: number | null
  pageSize?: number | null
  first?: number | null
  after?: string | null
  last?: number | null
  before?: string | null
}

/**
 * The keys of the row that a cursor identifies: its sort value (null when the order is by id alone) and its
 * id.
 */
export type CursorKey = { value: string | null; id: string }

/**
 * A valid request for a page by cursor. `seek` is the row after which (or, backward, before which) the page
 * begins.
 */
export type CursorPaging<Seek> = {
  mode: 'cursor'
  pageSize: number
  backward: boolean
  seek: Seek | null
  limit: ReadLimit
}
/**
 * A valid request for a page. `limit` ends it by the bytes of its rows. A page with a number has all of its rows, since
 * the page of the next number would leave out those that follow.
 */
export type Paging =
  | { mode: 'offset'; page: number; pageSize: number; isNumbered: boolean; limit: ReadLimit }
  | CursorPaging<CursorKey>

const CURSOR_PURPOSE = 'cursor'
const computeCursorMac = (list: string, payload: string) =>
  computeMac(CURSOR_PURPOSE, `${list}\n${payload}`).subarray(0, 16)

/**
 * Encodes an opaque cursor. It is valid for one `list` only, which names the tenant, collection, filter and
 * order.
 */
export function encodeCursor(list: string, key: CursorKey): string {
  const payload = Buffer.from(JSON.stringify([key.id, key.value])).toString('base64url')
  return `${payload}.${computeCursorMac(list, payload).toString('base64url')}`
}

/** The cursor of a row in a list by id. */
export const encodeIdCursor = (list: string, id: string): string => encodeCursor(list, { id, value: null })

function decodeCursor(list: string, cursor: string): CursorKey | null {
  const [payload = '', signature = '', ...rest] = cursor.split('.')
  const given = Buffer.from(signature, 'base64url')
  const genuine = computeMacs(CURSOR_PURPOSE, `${list}\n${payload}`).some((full) =>
    equalsConstantTime(full.subarray(0, 16), given),
  )
  if (rest.length > 0 || !genuine || given.toString('base64url') !== signature) return null
  const [id, value] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, string | null]
  return { id, value }
}

const isPresent = <T>(value: T | null | undefined): value is T => value !== undefined && value !== null

const PAGING_RANGES = [
  ['page', 0, MAX_PAGE],
  ['pageSize', 1, MAX_PAGE_SIZE],
  ['first', 1, MAX_PAGE_SIZE],
  ['last', 1, MAX_PAGE_SIZE],
] as const

/** The issues of numeric paging arguments. */
export const findRangeIssues = (args: PageArgs): FieldIssue[] =>
  PAGING_RANGES.flatMap(([field, min, max]) => {
    const value = args[field]
    const fits = !isPresent(value) || (Number.isInteger(value) && value >= min && value <= max)
    return fits ? [] : [{ field, description: `must be a whole number from ${min} to ${max}` }]
  })

const CURSOR_ARGS = ['first', 'after', 'last', 'before'] as const
const isCursorPaging = (args: PageArgs): boolean => CURSOR_ARGS.some((field) => isPresent(args[field]))
const isBackward = ({ last, before }: PageArgs): boolean => isPresent(last) || isPresent(before)

/** The issues of paging arguments that do not depend on the list: ranges and combinations. */
function findPagingIssues(args: PageArgs): FieldIssue[] {
  const issues = findRangeIssues(args)
  const byCursor = CURSOR_ARGS.filter((field) => isPresent(args[field]))
  const byOffset = (['page', 'pageSize'] as const).filter((field) => isPresent(args[field]))
  if (byCursor.length > 0 && byOffset.length > 0)
    issues.push(
      ...byOffset.map((field) => ({ field, description: `cannot be combined with ${byCursor.join(', ')}` })),
    )
  for (const field of ['first', 'after'] as const)
    if (isBackward(args) && isPresent(args[field]))
      issues.push({ field, description: 'cannot be combined with last, before' })
  return issues
}

/** Arguments of a list that is filtered and ordered, as callers give them. */
export type ListArgs = PageArgs & { filter?: unknown; orderBy?: unknown; direction?: unknown }

/**
 * Parses the filter and the order of a list. When one is not valid, throws InvalidInput that names every
 * invalid field, including those of the paging arguments; otherwise the paging arguments are left to
 * parsePaging.
 */
export function parseListArgs<Declared extends Record<string, FilterMember>, Field extends string = never>(
  { filter, orderBy, direction, ...args }: ListArgs,
  declared: Filter<Declared>,
  order: Order<Field> = DIRECTION,
): { filter: Given<Declared>; orderBy: Field | null; descending: boolean } {
  const given = declared.shape.safeParse(filter ?? {}, PARSE_OPTIONS)
  const sorting = order.shape.safeParse(order.by ? { orderBy, direction } : { direction }, PARSE_OPTIONS)
  const issues = [given, sorting].flatMap(({ error }) => (error ? toFieldIssues(error) : []))
  if (!given.success || !sorting.success) throw new InvalidInput([...issues, ...findPagingIssues(args)])
  return {
    filter: declared.pickGiven(given.data),
    orderBy: (sorting.data.orderBy as Field | undefined) ?? null,
    descending: sorting.data.direction === 'desc',
  }
}

/**
 * Parses paging arguments. Throws InvalidInput that names every invalid one. `decode` returns null for a
 * cursor of another list.
 */
export function parsePagingArgs<Seek>(
  { answer }: Workload,
  args: PageArgs,
  decode: (cursor: string) => Seek | null,
): Extract<Paging, { mode: 'offset' }> | CursorPaging<Seek> {
  const issues = findPagingIssues(args)
  const cursor = args.after ?? args.before
  const seek = isPresent(cursor) ? decode(cursor) : null
  if (isPresent(cursor) && !seek)
    issues.push({
      field: isPresent(args.after) ? 'after' : 'before',
      description: 'is not a cursor of this list',
    })
  if (issues.length > 0) throw new InvalidInput(issues)
  if (isCursorPaging(args)) {
    const pageSize = args.first ?? args.last ?? DEFAULT_PAGE_SIZE
    return {
      mode: 'cursor',
      pageSize,
      backward: isBackward(args),
      seek,
      limit: new ReadLimit(answer, pageSize),
    }
  }
  const pageSize = args.pageSize ?? DEFAULT_PAGE_SIZE
  return {
    mode: 'offset',
    page: args.page ?? 0,
    pageSize,
    isNumbered: isPresent(args.page),
    limit: new ReadLimit(answer, pageSize),
  }
}

/** Parses the paging arguments of a list. Throws InvalidInput that names every invalid one. */
export const parsePaging = (workload: Workload, args: PageArgs, list: string): Paging =>
  parsePagingArgs(workload, args, (cursor) => decodeCursor(list, cursor))

/** A page of a list, in list order. `countAll` runs only when the caller selects totalSize. */
export type Page<Row> = {
  rows: Row[]
  /** Null of a page by cursor. */
  page: number | null
  pageSize: number
  hasNextPage: boolean
  hasPreviousPage: boolean
  /** Whether the page has fewer rows than it could have, because of their bytes. */
  endsEarly: boolean
  encodeRowCursor: (row: Row) => string
  countAll: () => Promise<number>
}

/** The rows of a page in list order, and whether rows precede or follow them. */
export type PageRows<Row> = Pick<Page<Row>, 'rows' | 'hasNextPage' | 'hasPreviousPage' | 'endsEarly'>

/** The rows that fit into the page. Those of a statement with the limit do; others are measured here. */
function takeRows<Row>({ limit, pageSize }: Paging | CursorPaging<unknown>, read: readonly Row[]): Row[] {
  if (limit.bytes > 0 || limit.isReached) return read.slice(0, pageSize)
  const end = read.findIndex((row, index) => index === pageSize || !limit.take(estimateJson(row)))
  return end === -1 ? [...read] : read.slice(0, end)
}

/**
 * Cuts the page out of rows that were read with a limit of `pageSize + 1`; the extra row shows that more rows
 * follow, as a row does that was dropped because of its bytes. The rows of a backward read are in reverse order and are
 * reversed here. Throws InvalidInput for a page with a number whose rows are too many bytes, and RateLimited.
 */
export function toPageRows<Row>(paging: Paging | CursorPaging<unknown>, read: Row[]): PageRows<Row> {
  const rows = takeRows(paging, read)
  const { limit, pageSize } = paging
  limit.settle()
  const endsEarly = limit.isReached && rows.length < pageSize
  if (endsEarly && paging.mode === 'offset' && paging.isNumbered) throw createPageError()
  const surplus = limit.isReached || read.length > pageSize
  const backward = paging.mode === 'cursor' && paging.backward
  if (backward) rows.reverse()
  const beyond = paging.mode === 'cursor' ? paging.seek !== null : paging.page > 0
  return {
    rows,
    hasNextPage: backward ? beyond : surplus,
    hasPreviousPage: backward ? surplus : beyond,
    endsEarly,
  }
}

const createPageError = (): InvalidInput =>
  new InvalidInput([
    {
      field: 'pageSize',
      description: `is too large for this page: its rows have more than ${PAGE_BYTES / 1e6} MB. Ask for fewer, or leave page out and continue by cursor`,
    },
  ])

/** Builds the page from rows that were read with a limit of `pageSize + 1`. */
export const toPage = <Row>(
  paging: Paging,
  read: Row[],
  list: { name: string; toKey: (row: Row) => CursorKey; countAll: () => Promise<number> },
): Page<Row> => ({
  ...toPageRows(paging, read),
  page: paging.mode === 'offset' ? paging.page : null,
  pageSize: paging.pageSize,
  encodeRowCursor: (row) => encodeCursor(list.name, list.toKey(row)),
  countAll: list.countAll,
})

/** All rows of a list, page by page. */
export async function collectRows<Row>(list: (args: PageArgs) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  let after: string | null = null
  do {
    const page: Page<Row> = await list({ first: MAX_PAGE_SIZE, after })
    rows.push(...page.rows)
    const last = page.rows.at(-1)
    after = page.hasNextPage && last ? page.encodeRowCursor(last) : null
  } while (after !== null)
  return rows
}

/** Cursors of the next and the previous page, where there is one. */
export type PageLinks = { after: string | null; before: string | null }
const PAGE_LINKS = Symbol('page links')

export const getPageLinks = (body: object): PageLinks =>
  (body as { [PAGE_LINKS]?: PageLinks })[PAGE_LINKS] ?? { after: null, before: null }

/**
 * The envelope of a list in REST, with the cursors from which the Link header is built. Its page is an integer, so that a
 * page by cursor is page 0; a list that is read `isByCursor` has a page and a total where a page was asked for.
 */
export async function toPageEnvelope<Row, Name extends string>(
  workload: Workload,
  page: Page<Row>,
  name: Name,
  toBody: (row: Row) => object,
  isByCursor = false,
) {
  const { rows, pageSize, endsEarly, hasNextPage, hasPreviousPage, encodeRowCursor } = page
  const isNumbered = !isByCursor || page.page !== null
  const [first, last] = [rows.at(0), rows.at(-1)]
  const links: PageLinks = {
    after: hasNextPage && last !== undefined ? encodeRowCursor(last) : null,
    before: hasPreviousPage && first !== undefined ? encodeRowCursor(first) : null,
  }
  return {
    ...(isNumbered && { page: page.page ?? 0 }),
    pageSize,
    ...(isNumbered && { totalSize: await page.countAll() }),
    endsEarly,
    [name]: await mapInTurns(workload, rows, toBody),
    [PAGE_LINKS]: links,
  }
}
