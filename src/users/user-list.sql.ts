import type { Sql } from '../db.ts'
import { Prisma, type User } from '../generated/prisma/client.ts'
import { type Bind, binder, boundsOf, type KeysetOrder, keyOf, keysetPage, keysetSort } from '../keyset.ts'
import type { CursorKey, Paging } from '../page.ts'
import type { UserFilter } from './user-filter.fields.ts'
import { FLAGS, type ListOrder, type UserList } from './user-list-choice.ts'
import { columnConditions, residualConditions } from './user-list-conditions.sql.ts'
import { type Driver, termDriver } from './user-list-terms.sql.ts'

/** What to read: a checked filter, the one of USER_LISTS that it comes to, and which end is first. */
export type UserListQuery = { list: UserList; filter: UserFilter; descending: boolean }

const ID = 'u."id"'
const ORDERS: Record<Exclude<ListOrder, 'word'>, KeysetOrder> = {
  id: { value: null, id: ID },
  createdAt: { value: 'u."createdAt"', id: ID, type: 'timestamptz' },
  updatedAt: { value: 'u."updatedAt"', id: ID, type: 'timestamptz' },
  lastSeenAt: { value: 'u."lastSeenAt"', id: ID, type: 'timestamptz', nullable: true },
  email: { value: 'u."emailKey"', id: ID, nullable: true, unique: true },
  name: { value: 'u."nameKey"', id: ID, nullable: true },
}
const TENANT = 'u."tenantId" = $1'
const ofUsers = (order: KeysetOrder, conditions: string[] = [], each?: string): Driver => ({
  isUser: true,
  ctes: [],
  order,
  source: { from: '"User" u', where: [TENANT, ...conditions].join(' AND '), each },
})

/** Each combination of the flags that the filter leaves open is a range of one index, in order of id. */
const flagsDriver = (filter: UserFilter, bind: Bind): Driver =>
  ofUsers(
    ORDERS.id,
    FLAGS.map((flag) => `u."${flag}" = "${flag}_"`),
    FLAGS.map(
      (flag) =>
        `unnest(${bind(filter[flag] === undefined ? [false, true] : [filter[flag]])}::boolean[]) "${flag}_"`,
    ).join(', '),
  )

function rangeDriver(
  member: 'createdAt' | 'updatedAt' | 'lastSeenAt',
  filter: UserFilter,
  bind: Bind,
): Driver {
  const { gte, lt } = filter[member] ?? {}
  const bound = (at: Date | null | undefined) => (at ? `${bind(at)}::timestamptz` : undefined)
  return ofUsers({ ...ORDERS[member], from: bound(gte), before: bound(lt) })
}

const linkDriver = ({ idpId }: UserFilter, bind: Bind): Driver => ({
  isUser: false,
  ctes: [],
  order: { value: null, id: 'l."userId"' },
  source: { from: '"IdpUser" l', where: `l."tenantId" = $1 AND l."idpId" = ${bind(idpId)}::text` },
})

/** Where a list is read from; paging is null for its count. */
function driverOf({ list, filter, descending }: UserListQuery, paging: Paging | null, bind: Bind): Driver {
  const lead = list.by.find((member) => filter[member] !== undefined)
  const driver = ((): Driver => {
    switch (lead) {
      case undefined:
        return ofUsers(ORDERS[list.order === 'word' ? 'id' : list.order])
      case 'search':
      case 'appMetadata':
        return termDriver(lead, filter, paging, bind)
      case 'idpId':
        return linkDriver(filter, bind)
      case 'createdAt':
      case 'updatedAt':
      case 'lastSeenAt':
        return rangeDriver(lead, filter, bind)
      case 'locked':
      case 'emailVerified':
      case 'phoneNumberVerified':
      case 'hasCredential':
        return flagsDriver(filter, bind)
      default:
        return ofUsers(ORDERS.id, columnConditions(filter, [lead], bind))
    }
  })()
  const members = list.with.filter((member) => !list.by.includes(member))
  const residual = residualConditions(
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

const COLUMNS = Object.keys(Prisma.UserScalarFieldEnum)
/** In the order of the table, so that one choice of columns has one text. Null chooses all. */
const chosen = (columns: ReadonlySet<string> | null): string[] =>
  (columns ? COLUMNS.filter((column) => columns.has(column)) : COLUMNS).filter((column) => column !== 'id')
const columnList = (columns: readonly string[], of: string): string =>
  columns.map((column) => `, ${of}."${column}"`).join('')

const withOf = ({ ctes }: Driver): string => (ctes.length > 0 ? `WITH ${ctes.join(', ')} ` : '')

type Statement = { text: string; values: ReturnType<typeof binder>['values'] }

/** The statement of a page: keys alone, or rows with these columns. */
function userPageStatement(
  tenant: string,
  query: UserListQuery,
  paging: Paging,
  columns: ReadonlySet<string> | null | 'keys',
): Statement {
  const bind = binder(tenant)
  const driver = driverOf(query, paging, bind)
  const names = columns === 'keys' ? [] : chosen(columns)
  // By offset the index is read up to the page, and only then the rows.
  const isDirect = driver.isUser && paging.mode === 'cursor'
  const source = { ...driver.source, columns: isDirect ? columnList(names, 'u').slice(2) : '' }
  const page = keysetPage(source, driver.order, paging, bind)
  const rows =
    isDirect || names.length === 0
      ? ''
      : `, LATERAL (SELECT${columnList(names, 'u').slice(1)} FROM "User" u
    WHERE u."tenantId" = $1 AND u."id" = k."id" LIMIT 1) r`
  const text = `${withOf(driver)}SELECT k."id", k."value"${columnList(names, isDirect ? 'k' : 'r')}
    FROM (${page}) k${rows} ORDER BY ${keysetSort(driver.order, paging, 'k')}`
  return { text, values: bind.values }
}

/** The statement of how many users a filtered list has; linear in those that its index leads to. */
function userCountStatement(tenant: string, query: UserListQuery): Statement {
  const bind = binder(tenant)
  const driver = driverOf(query, null, bind)
  const { from, where, each } = driver.source
  const conditions = [where, ...boundsOf(driver.order)].join(' AND ')
  const text = each
    ? `SELECT count(*)::text AS "users" FROM ${each}, LATERAL (SELECT FROM ${from} WHERE ${conditions} OFFSET 0) k`
    : `${withOf(driver)}SELECT count(*)::text AS "users" FROM ${from} WHERE ${conditions}`
  return { text, values: bind.values }
}

export type KeyedRow<Row> = { key: CursorKey; row: Row }
type PageRow = User & { value: Date | string | null }

/** A page with its cursors' keys, one row more than the page, in reverse where it is read backwards. */
export async function selectUserPage(
  sql: Sql,
  tenant: string,
  query: UserListQuery,
  paging: Paging,
  columns: ReadonlySet<string> | null | 'keys',
): Promise<KeyedRow<User>[]> {
  const { text, values } = userPageStatement(tenant, query, paging, columns)
  const rows = await sql<PageRow>(text, values)
  return rows.map(({ value, ...row }) => ({ key: keyOf({ id: row.id, value }), row }))
}

const COUNT_USERS = `SELECT COALESCE(sum("users"), 0)::text AS "users" FROM "UserCount" WHERE "tenantId" = $1`

/** How many users a list has. Of all users: the sum of at most eight rows that a trigger keeps. */
export async function selectUserCount(sql: Sql, tenant: string, query: UserListQuery): Promise<number> {
  const { text, values } =
    query.list.by.length === 0
      ? { text: COUNT_USERS, values: [tenant] as Statement['values'] }
      : userCountStatement(tenant, query)
  const [row] = await sql<{ users: string }>(text, values)
  return Number(row?.users ?? 0)
}
