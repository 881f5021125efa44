import type { z } from 'zod'
import { authenticate, authenticateAll, equals } from './crypto.ts'
import { type FieldFault, InvalidInput } from './errors.ts'
import { faultsOf } from './fields.ts'

export const DEFAULT_PAGE_SIZE = 50
export const MAX_PAGE_SIZE = 1000
/** OFFSET is a bigint in PostgreSQL; this many pages of any size stay below what JavaScript counts exactly. */
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

/** Values of the row that a cursor stands at: the sort value (null when the order is by id alone) and the id. */
export type CursorKey = { value: string | null; id: string }

/** A checked request for one page by cursor. `seek` asks for rows strictly beyond one, in the list's order or backwards. */
export type CursorPaging<Seek> = { mode: 'cursor'; pageSize: number; backward: boolean; seek: Seek | null }
/** A checked request for one page. */
export type Paging = { mode: 'offset'; page: number; pageSize: number } | CursorPaging<CursorKey>

const CURSOR_PURPOSE = 'cursor'
const mac = (list: string, payload: string) =>
  authenticate(CURSOR_PURPOSE, `${list}\n${payload}`).subarray(0, 16)

/** An opaque cursor, valid for one `list` only: the tenant, the collection, the filter and the order. */
export function encodeCursor(list: string, key: CursorKey): string {
  const payload = Buffer.from(JSON.stringify([key.id, key.value])).toString('base64url')
  return `${payload}.${mac(list, payload).toString('base64url')}`
}

function decodeCursor(list: string, cursor: string): CursorKey | null {
  const [payload = '', signature = '', ...rest] = cursor.split('.')
  const given = Buffer.from(signature, 'base64url')
  const genuine = authenticateAll(CURSOR_PURPOSE, `${list}\n${payload}`).some((full) =>
    equals(full.subarray(0, 16), given),
  )
  if (rest.length > 0 || !genuine || given.toString('base64url') !== signature) return null
  const [id, value] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, string | null]
  return { id, value }
}

const isGiven = <T>(value: T | null | undefined): value is T => value !== undefined && value !== null

const RANGES = [
  ['page', 0, MAX_PAGE],
  ['pageSize', 1, MAX_PAGE_SIZE],
  ['first', 1, MAX_PAGE_SIZE],
  ['last', 1, MAX_PAGE_SIZE],
] as const

/** What is wrong with the numbers among paging arguments. */
export const rangeFaults = (args: PageArgs): FieldFault[] =>
  RANGES.flatMap(([field, min, max]) => {
    const value = args[field]
    const fits = !isGiven(value) || (Number.isInteger(value) && value >= min && value <= max)
    return fits ? [] : [{ field, description: `must be a whole number from ${min} to ${max}` }]
  })

const BY_CURSOR = ['first', 'after', 'last', 'before'] as const
const isByCursor = (args: PageArgs): boolean => BY_CURSOR.some((field) => isGiven(args[field]))
const isBackward = ({ last, before }: PageArgs): boolean => isGiven(last) || isGiven(before)

/** What is wrong with paging arguments, whatever list they are for: ranges, and what cannot be combined. */
function pagingFaults(args: PageArgs): FieldFault[] {
  const faults = rangeFaults(args)
  const byCursor = BY_CURSOR.filter((field) => isGiven(args[field]))
  const byOffset = (['page', 'pageSize'] as const).filter((field) => isGiven(args[field]))
  if (byCursor.length > 0 && byOffset.length > 0)
    faults.push(
      ...byOffset.map((field) => ({ field, description: `cannot be combined with ${byCursor.join(', ')}` })),
    )
  for (const field of ['first', 'after'] as const)
    if (isBackward(args) && isGiven(args[field]))
      faults.push({ field, description: 'cannot be combined with last, before' })
  return faults
}

/** Values with the shape that each must have. */
type Asked<Shapes extends readonly z.ZodType[]> = { [Index in keyof Shapes]: [Shapes[Index], unknown] }
type Parsed<Shapes extends readonly z.ZodType[]> = { [Index in keyof Shapes]: z.output<Shapes[Index]> }

/**
 * Checks what a list is asked for, its filter and its order. Throws InvalidInput that names every faulty field of them,
 * and then of the paging arguments too; of good ones, parsePaging is the judge.
 */
export function parseAsked<const Shapes extends readonly z.ZodType[]>(
  args: PageArgs,
  ...asked: Asked<Shapes>
): Parsed<Shapes> {
  const parsed = asked.map(([shape, input]) => shape.safeParse(input, { reportInput: true }))
  const faults = parsed.flatMap(({ error }) => (error ? faultsOf(error) : []))
  if (faults.length > 0) throw new InvalidInput([...faults, ...pagingFaults(args)])
  return parsed.map(({ data }) => data) as Parsed<Shapes>
}

/**
 * Checks paging arguments; throws InvalidInput that names every faulty one. `decode` gives null for a cursor that is
 * none of the list.
 */
function readPaging<Seek>(
  args: PageArgs,
  decode: (cursor: string) => Seek | null,
): Extract<Paging, { mode: 'offset' }> | CursorPaging<Seek> {
  const faults = pagingFaults(args)
  const cursor = args.after ?? args.before
  const seek = isGiven(cursor) ? decode(cursor) : null
  if (isGiven(cursor) && !seek)
    faults.push({
      field: isGiven(args.after) ? 'after' : 'before',
      description: 'is not a cursor of this list',
    })
  if (faults.length > 0) throw new InvalidInput(faults)
  if (isByCursor(args)) {
    const pageSize = args.first ?? args.last ?? DEFAULT_PAGE_SIZE
    return { mode: 'cursor', pageSize, backward: isBackward(args), seek }
  }
  return { mode: 'offset', page: args.page ?? 0, pageSize: args.pageSize ?? DEFAULT_PAGE_SIZE }
}

/** Checks paging arguments of a list; throws InvalidInput that names every faulty one. */
export const parsePaging = (args: PageArgs, list: string): Paging =>
  readPaging(args, (cursor) => decodeCursor(list, cursor))

/** The same for a list without pages and with cursors of its own. */
export function parseCursorPaging<Seek>(
  { first, after, last, before }: Omit<PageArgs, 'page' | 'pageSize'>,
  decode: (cursor: string) => Seek | null,
): CursorPaging<Seek> {
  const paging = readPaging({ first, after, last, before }, decode)
  return paging.mode === 'cursor'
    ? paging
    : { mode: 'cursor', pageSize: paging.pageSize, backward: false, seek: null }
}

/** One page of a list, in list order. `countAll` is asked for only where the caller wants totalSize. */
export type Page<Row> = {
  rows: Row[]
  page: number | null
  pageSize: number
  hasNextPage: boolean
  hasPreviousPage: boolean
  cursorOf: (row: Row) => string
  countAll: () => Promise<number>
}

/** Rows of a page in list order, and whether there are more on either side. */
export type PageRows<Row> = Pick<Page<Row>, 'rows' | 'hasNextPage' | 'hasPreviousPage'>

/**
 * Takes the page out of rows that were read with one more than `pageSize` (the surplus row tells that there is a
 * next page). Rows of a backward read come in reverse and are turned here.
 */
export function toPageRows<Row>(paging: Paging | CursorPaging<unknown>, read: Row[]): PageRows<Row> {
  const surplus = read.length > paging.pageSize
  const rows = surplus ? read.slice(0, paging.pageSize) : [...read]
  const backward = paging.mode === 'cursor' && paging.backward
  if (backward) rows.reverse()
  const beyond = paging.mode === 'cursor' ? paging.seek !== null : paging.page > 0
  return { rows, hasNextPage: backward ? beyond : surplus, hasPreviousPage: backward ? surplus : beyond }
}

/** Makes the page out of rows that were read with one more than `pageSize`. */
export const toPage = <Row>(
  paging: Paging,
  read: Row[],
  list: { name: string; keyOf: (row: Row) => CursorKey; countAll: () => Promise<number> },
): Page<Row> => ({
  ...toPageRows(paging, read),
  page: paging.mode === 'offset' ? paging.page : null,
  pageSize: paging.pageSize,
  cursorOf: (row) => encodeCursor(list.name, list.keyOf(row)),
  countAll: list.countAll,
})

/** Cursors to go on with from a page, as far as there are rows beyond it. */
export type Onward = { after: string | null; before: string | null }
const ONWARD = Symbol('onward')

/** Lets the answer of a list say how to go on, without being part of it. */
export function withOnward<Body extends object, Row>(
  body: Body,
  { rows, hasNextPage, hasPreviousPage }: PageRows<Row>,
  cursorOf: (row: Row) => string,
): Body {
  const [first, last] = [rows.at(0), rows.at(-1)]
  const onward: Onward = {
    after: hasNextPage && last !== undefined ? cursorOf(last) : null,
    before: hasPreviousPage && first !== undefined ? cursorOf(first) : null,
  }
  return Object.defineProperty(body, ONWARD, { value: onward })
}

export const onwardOf = (body: object): Onward =>
  (body as { [ONWARD]?: Onward })[ONWARD] ?? { after: null, before: null }

/** The spec's envelope of a list, as REST answers it; it has integers only, so that a page by cursor is page 0. */
export async function toEnvelope<Row, Name extends string>(
  page: Page<Row>,
  name: Name,
  toBody: (row: Row) => object,
) {
  const envelope = {
    page: page.page ?? 0,
    pageSize: page.pageSize,
    totalSize: await page.countAll(),
    [name]: page.rows.map(toBody),
  }
  return withOnward(envelope, page, page.cursorOf)
}
