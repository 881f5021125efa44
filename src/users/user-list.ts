import { sha256Base64url } from '../crypto.ts'
import type { Ctx, Scope } from '../ctx.ts'
import { dbFor, plannedSql, sql } from '../db.ts'
import type { User } from '../generated/prisma/client.ts'
import {
  encodeCursor,
  type Page,
  type PageArgs,
  type Paging,
  parseAsked,
  parsePaging,
  toPageRows,
} from '../page.ts'
import { requireScope } from '../scopes.ts'
import { columnsOfFields } from './user-body.ts'
import { type FilterMember, toFilter, UserFilter, UserOrder } from './user-filter.fields.ts'
import { type KeyedRow, selectUserCount, selectUserPage, type UserListQuery } from './user-list.sql.ts'
import { chooseList } from './user-list-choice.ts'
import type { UserQuery } from './users.ts'

/** Shape of `filter`: UserFilter; of `orderBy` and `direction`: UserOrder. */
export type ListUsersArgs = PageArgs & { filter?: unknown; orderBy?: unknown; direction?: unknown }

/** To find users by what one may not read would be to read it. */
const SCOPES_OF_MEMBERS: Partial<Record<FilterMember, Scope>> = {
  hasCredential: 'credentials:read',
  idpId: 'idps:read',
  appMetadata: 'users:read_app_metadata',
}

function queryOf(ctx: Ctx, args: ListUsersArgs): { query: UserListQuery; name: string } {
  const [given, { orderBy, direction }] = parseAsked(
    args,
    [UserFilter, args.filter ?? {}],
    [UserOrder, { orderBy: args.orderBy, direction: args.direction }],
  )
  const filter = toFilter(given)
  for (const member of Object.keys(filter) as FilterMember[]) {
    const scope = SCOPES_OF_MEMBERS[member]
    if (scope) requireScope(ctx, scope)
  }
  const asked = JSON.stringify([filter, orderBy ?? null, direction ?? 'asc'])
  return {
    query: { list: chooseList(filter, orderBy ?? null), filter, descending: direction === 'desc' },
    // What cursors are bound to.
    name: `${ctx.tenant}:users${asked === PLAIN ? '' : `:${sha256Base64url(asked)}`}`,
  }
}
const PLAIN = JSON.stringify([{}, null, 'asc'])

/** Rows with relations, by id: relations are joined in the database (relationJoins), so that this is one statement. */
async function readById(
  tenant: string,
  { descending }: UserListQuery,
  paging: Paging,
  query: UserQuery,
): Promise<KeyedRow<User>[]> {
  const backward = paging.mode === 'cursor' && paging.backward
  const isDown = descending !== backward
  const seek = paging.mode === 'cursor' ? paging.seek : null
  const rows = await dbFor(tenant).user.findMany({
    ...query,
    where: { tenantId: tenant, ...(seek && { id: isDown ? { lt: seek.id } : { gt: seek.id } }) },
    orderBy: { id: isDown ? 'desc' : 'asc' },
    skip: paging.mode === 'offset' ? paging.page * paging.pageSize : 0,
    take: paging.pageSize + 1,
  })
  return rows.map((row) => ({ key: { id: row.id, value: null }, row }))
}

/** Rows with relations in any other list: the ids first. Who is deleted in between is null. */
async function readKeyed(
  tenant: string,
  list: UserListQuery,
  paging: Paging,
  query: UserQuery,
): Promise<KeyedRow<User | null>[]> {
  const keys = (await selectUserPage(plannedSql, tenant, list, paging, 'keys')).map(({ key }) => key)
  const users = await dbFor(tenant).user.findMany({
    ...query,
    where: { tenantId: tenant, id: { in: keys.map(({ id }) => id) } },
  })
  const byId = new Map(users.map((user) => [user.id, user]))
  return keys.map((key) => ({ key, row: byId.get(key.id) ?? null }))
}

/**
 * A page of the users (spec: List users), filtered and ordered as USER_LISTS has it; plainly, by id, which is the order
 * of creation. One statement, two with relations in a filtered or ordered list, and one more for totalSize when it is
 * asked for. Given the `fields` that are wanted, rows may hold the columns of those alone. Throws InvalidInput, and
 * Forbidden for a filter on what the caller may not read.
 */
export async function listUsers(
  ctx: Ctx,
  args: ListUsersArgs,
  { query = {}, fields }: { query?: object; fields?: Iterable<string> } = {},
): Promise<Page<User>> {
  const { tenant } = ctx
  const { query: list, name } = queryOf(ctx, args)
  const paging = parsePaging(args, name)
  const isPlain = list.list.by.length === 0 && list.list.order === 'id'
  // The plan of the plain list is the same whatever its values.
  const send = isPlain ? sql : plannedSql
  const read: KeyedRow<User | null>[] =
    Object.keys(query).length === 0
      ? await selectUserPage(send, tenant, list, paging, fields ? columnsOfFields(fields) : null)
      : await (isPlain ? readById : readKeyed)(tenant, list, paging, query)
  const { rows, ...ends } = toPageRows(paging, read)
  const keys = new Map(rows.map(({ key }) => [key.id, key]))
  return {
    ...ends,
    rows: rows.flatMap(({ row }) => row ?? []),
    page: paging.mode === 'offset' ? paging.page : null,
    pageSize: paging.pageSize,
    cursorOf: ({ id }) => encodeCursor(name, keys.get(id) ?? { id, value: null }),
    countAll: () => selectUserCount(send, tenant, list),
  }
}
