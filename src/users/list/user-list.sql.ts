import { InvalidInput } from '../../core/errors.ts'
import type { WithTextDates } from '../../core/time.ts'
import { storedColumns } from '../../database/columns.ts'
import type { Db } from '../../database/handle.ts'
import {
  type BindParameter,
  buildBounds,
  buildKeysetPage,
  buildKeysetSort,
  createBinder,
  hideParameter,
  hideValues,
  type KeysetOrder,
  type RowWindow,
  toCursorKey,
} from '../../database/keyset.ts'
import { bindRange } from '../../database/lists/filter-conditions.ts'
import { boundStatement, statement, typed } from '../../database/statement.ts'
import { Prisma, type User } from '../../generated/prisma/client.ts'
import type { CursorKey, Paging } from '../../schema/page.ts'
import { MAX_SORTED, type UserFilter } from './user-filter.fields.ts'
import { buildColumnConditions, buildResidualConditions } from './user-list-conditions.sql.ts'
import { FLAG_MEMBERS, type UserList, type UserListOrder } from './user-list-plans.ts'
import { buildSortedSearchDriver, buildUserTermDriver, type ListDriver } from './user-list-terms.sql.ts'
import { buildPageByRanges } from './user-ranges.sql.ts'

/** A valid filter, its list of USER_LISTS, and the direction. */
export type UserListQuery = { list: UserList; filter: UserFilter; descending: boolean }

const ID = 'u."id"'
const KEYSET_ORDERS: Record<Exclude<UserListOrder, 'word'>, KeysetOrder> = {
  id: { value: null, id: ID },
  createdAt: { value: 'u."createdAt"', id: ID, type: 'timestamptz' },
  updatedAt: { value: 'u."updatedAt"', id: ID, type: 'timestamptz' },
  lastSeenAt: { value: 'u."lastSeenAt"', id: ID, type: 'timestamptz', nullable: true },
  email: { value: 'u."emailKey"', id: ID, nullable: true, unique: true },
  name: { value: 'u."nameKey"', id: ID, nullable: true },
}
const TENANT = 'u."tenantId" = $1'
const createUserDriver = (order: KeysetOrder, conditions: string[] = [], each?: string): ListDriver => ({
  isUser: true,
  ctes: [],
  order,
  source: { from: '"User" u', where: [TENANT, ...conditions].join(' AND '), each },
})

/** All users in order of id. The statement is prepared. */
const PLAIN_DRIVER: ListDriver = {
  ...createUserDriver(KEYSET_ORDERS.id),
  source: { from: '"User" u', where: `u."tenantId" = ${hideParameter('$1')}` },
}

/** Each combination of flags that the filter leaves open is a range of one index, in order of id. */
const buildFlagsDriver = (filter: UserFilter, bind: BindParameter): ListDriver =>
  createUserDriver(
    KEYSET_ORDERS.id,
    FLAG_MEMBERS.map((flag) => `u."${flag}" = "${flag}_"`),
    FLAG_MEMBERS.map(
      (flag) =>
        `unnest(${bind(filter[flag] === undefined ? [false, true] : [filter[flag]])}::boolean[]) "${flag}_"`,
    ).join(', '),
  )

function buildRangeDriver(
  member: 'createdAt' | 'updatedAt' | 'lastSeenAt',
  filter: UserFilter,
  bind: BindParameter,
): ListDriver {
  return createUserDriver({ ...KEYSET_ORDERS[member], ...bindRange(filter[member], bind) })
}

const buildLinkDriver = ({ idpId }: UserFilter, bind: BindParameter): ListDriver => ({
  isUser: false,
  ctes: [],
  order: { value: null, id: 'l."userId"' },
  source: { from: '"IdpUser" l', where: `l."tenantId" = $1 AND l."idpId" = ${bind(idpId)}::text` },
})

const buildMemberDriver = ({ organizationId }: UserFilter, bind: BindParameter): ListDriver => ({
  isUser: false,
  ctes: [],
  order: { value: null, id: 'm."userId"' },
  source: {
    from: '"Membership" m',
    where: `m."tenantId" = $1 AND m."organizationId" = ${bind(organizationId)}::text`,
  },
})

/** The source of a list; `paging` is null for its count. */
function selectDriver(
  { list, filter, descending }: UserListQuery,
  paging: Paging | null,
  bind: BindParameter,
): ListDriver {
  if (isPlainList({ list })) return { ...PLAIN_DRIVER, order: { ...PLAIN_DRIVER.order, descending } }
  const lead = list.by.find((member) => filter[member] !== undefined)
  const driver = ((): ListDriver => {
    switch (lead) {
      case undefined:
        return createUserDriver(KEYSET_ORDERS[list.order === 'word' ? 'id' : list.order])
      case 'search':
      case 'appMetadata':
        return lead === 'search' && list.order !== 'word' && paging
          ? buildSortedSearchDriver(filter, KEYSET_ORDERS[list.order], bind)
          : buildUserTermDriver(lead, filter, paging, bind)
      case 'idpId':
        return buildLinkDriver(filter, bind)
      case 'organizationId':
        return buildMemberDriver(filter, bind)
      case 'createdAt':
      case 'updatedAt':
      case 'lastSeenAt':
        return buildRangeDriver(lead, filter, bind)
      case 'locked':
      case 'emailVerified':
      case 'phoneNumberVerified':
      case 'hasCredential':
        return buildFlagsDriver(filter, bind)
      default:
        return createUserDriver(KEYSET_ORDERS.id, buildColumnConditions(filter, [lead], bind))
    }
  })()
  const members = list.combinable.filter((member) => !list.by.includes(member))
  const residual = buildResidualConditions(
    filter,
    members,
    { userId: driver.order.id, isUser: driver.isUser },
    bind,
  )
  return {
    ...driver,
    order: { ...driver.order, descending },
    source: { ...driver.source, where: [driver.source.where, ...residual].join(' AND ') },
  }
}

const COLUMNS = Object.keys(Prisma.UserScalarFieldEnum) as (keyof User)[]
/** The selected columns in table order, so that a selection has one statement text. Null selects all. */
const selectColumnNames = (columns: ReadonlySet<string> | null): (keyof User)[] =>
  (columns ? COLUMNS.filter((column) => columns.has(column)) : COLUMNS).filter((column) => column !== 'id')
const toColumnList = (columns: readonly string[], of: string): string =>
  columns.map((column) => `, ${of}."${column}"`).join('')

/** Whether the list has all users in order of id. */
export const isPlainList = ({ list }: Pick<UserListQuery, 'list'>): boolean =>
  list.by.length === 0 && list.order === 'id'

/** The first page by offset is the one without a cursor: its rows come from one scan. */
const toFirstPage = (paging: Paging): Paging =>
  paging.mode === 'offset' && paging.page === 0
    ? { mode: 'cursor', pageSize: paging.pageSize, backward: false, seek: null, limit: paging.limit }
    : paging

/** The rows of a page by offset, with one extra row. */
const getRowWindow = ({ page, pageSize }: { page: number; pageSize: number }): RowWindow => ({
  offset: page * pageSize,
  limit: pageSize + 1,
})

/** A window of a list with so many rows, counted from the end. */
export const countFromEnd = ({ offset, limit }: RowWindow, rows: number): RowWindow => ({
  offset: Math.max(rows - offset - limit, 0),
  limit: Math.min(Math.max(rows - offset, 0), limit),
})

/** Rows that are skipped in a few milliseconds, so that their page need not be looked for from the end. */
const NEAR_START = 20_000

/**
 * The rows of a page by offset from the end of the list, where it is nearer: of a list of all users by a field, which are
 * counted already.
 */
async function findWindowFromEnd(
  db: Db,
  query: UserListQuery,
  paging: Paging,
): Promise<RowWindow | undefined> {
  if (paging.mode === 'cursor' || query.list.by.length > 0 || isPlainList(query)) return undefined
  const window = getRowWindow(paging)
  if (window.offset < NEAR_START) return undefined
  const users = await selectUserCount(db, query)
  return users < 2 * window.offset ? countFromEnd(window, users) : undefined
}

const buildWithClause = ({ ctes }: ListDriver): string => (ctes.length > 0 ? `WITH ${ctes.join(', ')} ` : '')

/** The statement of a page: keys alone, or rows with these columns. */
export function buildUserPageStatement(
  tenant: string,
  query: UserListQuery,
  given: Paging,
  columns: ReadonlySet<string> | null | 'keys',
  fromEnd?: RowWindow,
) {
  const binder = createBinder(tenant)
  const bind = isPlainList(query) ? hideValues(binder) : binder
  const paging = toFirstPage(given)
  const driver = selectDriver(query, paging, bind)
  const names = columns === 'keys' ? [] : selectColumnNames(columns)
  // By offset, the index is read up to the page, or from the range of the page on, and then the rows of the page.
  const isDirect = driver.isUser && paging.mode === 'cursor'
  const source = { ...driver.source, columns: isDirect ? toColumnList(names, 'u').slice(2) : '' }
  const page =
    paging.mode === 'offset' && isPlainList(query)
      ? buildPageByRanges({ ...getRowWindow(paging), descending: query.descending }, bind)
      : buildKeysetPage(source, driver.order, paging, bind, fromEnd)
  const rows =
    isDirect || names.length === 0
      ? ''
      : `, LATERAL (SELECT${toColumnList(names, 'u').slice(1)} FROM "User" u
    WHERE u."tenantId" = $1 AND u."id" = k."id" LIMIT 1) r`
  const select = `SELECT k."id", k."value"${toColumnList(names, isDirect ? 'k' : 'r')} FROM (${page}) k${rows}`
  const { isOver } = driver
  const list = isOver
    ? `SELECT o."isOver", k.* FROM (SELECT ${isOver} AS "isOver") o LEFT JOIN (${select}) k ON true`
    : select
  const text = `${buildWithClause(driver)}${list} ORDER BY ${buildKeysetSort(driver.order, paging, 'k')}`
  const value = typed<string | null>(driver.order.type ?? 'text')
  // The dates of a list become text in the response.
  return boundStatement(
    { value, ...storedColumns('User', ['id', ...names]), ...(isOver && { isOver: 'boolean' as const }) },
    text,
    bind.values,
    {
      datesAsText: true,
      // The plan of the unfiltered list does not depend on its values.
      isPrepared: isPlainList(query),
    },
  )
}

/** The statement that counts a filtered list. Its cost is linear in the matching index entries. */
export function buildUserCountStatement(tenant: string, query: UserListQuery) {
  const bind = createBinder(tenant)
  const driver = selectDriver(query, null, bind)
  const { from, where, each } = driver.source
  const conditions = [where, ...buildBounds(driver.order)].join(' AND ')
  const text = each
    ? `SELECT count(*)::text AS "users" FROM ${each}, LATERAL (SELECT FROM ${from} WHERE ${conditions} OFFSET 0) k`
    : `${buildWithClause(driver)}SELECT count(*)::text AS "users" FROM ${from} WHERE ${conditions}`
  return boundStatement({ users: 'text' }, text, bind.values)
}

/** A user as a list reads it. */
export type ListedUser = WithTextDates<User>
export type KeyedRow<Row> = { key: CursorKey; row: Row }

const createUnsortableError = (): InvalidInput =>
  new InvalidInput([
    {
      field: 'orderBy',
      description: `cannot be combined with a search that matches more than ${MAX_SORTED} words of users; add a word, or leave orderBy out`,
    },
  ])

/** A page with its cursor keys and one extra row, in reverse order when it is read backward. Throws InvalidInput. */
export async function selectUserPage(
  db: Db,
  query: UserListQuery,
  paging: Paging,
  columns: ReadonlySet<string> | null | 'keys',
): Promise<KeyedRow<ListedUser>[]> {
  const rows = await db.list(
    buildUserPageStatement(db.tenant, query, paging, columns, await findWindowFromEnd(db, query, paging)),
    columns === 'keys' ? undefined : paging.limit,
  )
  const [first] = rows as { id: string | null; isOver?: boolean }[]
  if (first?.isOver) throw createUnsortableError()
  // Without a row of the page, one has the flag only.
  if (first?.id === null) return []
  // A copy of each row without `value` would take longer than reading it.
  return rows.map((row) => ({ key: toCursorKey(row), row: row as unknown as ListedUser }))
}

const COUNT_USERS = statement({ returns: { users: 'text' } })`
  SELECT COALESCE(sum("users"), 0)::text AS "users" FROM "UserCount" WHERE "tenantId" = :tenant`

/**
 * Counts the users of a list. The count of all users is the sum of at most eight rows that a trigger
 * maintains.
 */
export async function selectUserCount(db: Db, query: UserListQuery): Promise<number> {
  const [row] =
    query.list.by.length === 0
      ? await db.many(COUNT_USERS)
      : await db.list(buildUserCountStatement(db.tenant, query))
  return Number(row?.users ?? 0)
}
