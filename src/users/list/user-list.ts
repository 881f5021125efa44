import { requireFilterScopes } from '../../access/require-scope.ts'
import type { Ctx } from '../../context/context.ts'
import { sha256Base64url } from '../../core/crypto.ts'
import { buildPageQuery } from '../../database/page-query.ts'
import type { User } from '../../generated/prisma/client.ts'
import {
  type CursorKey,
  encodeCursor,
  type ListArgs,
  type Page,
  type Paging,
  parseListArgs,
  parsePaging,
  toPageRows,
} from '../../schema/page.ts'
import { selectColumnsForFields } from '../user-body.ts'
import type { UserQuery } from '../users.ts'
import { USER_FILTER, USER_ORDER } from './user-filter.fields.ts'
import {
  isPlainList,
  type KeyedRow,
  type ListedUser,
  selectUserCount,
  selectUserPage,
  type UserListQuery,
} from './user-list.sql.ts'
import { selectUserList } from './user-list-plans.ts'

/** What cursors of the list of all users in order of creation are bound to. */
export const toUserListName = (tenant: string): string => `${tenant}:users`

function buildListQuery(ctx: Ctx, args: ListArgs): { query: UserListQuery; name: string } {
  const { filter, orderBy, descending } = parseListArgs(args, USER_FILTER, USER_ORDER)
  requireFilterScopes(ctx, USER_FILTER, filter)
  const queryKey = JSON.stringify([filter, orderBy, descending ? 'desc' : 'asc'])
  return {
    query: { list: selectUserList(filter, orderBy), filter, descending },
    // The list name to which cursors are bound.
    name: `${toUserListName(ctx.tenant)}${queryKey === PLAIN_QUERY ? '' : `:${sha256Base64url(queryKey)}`}`,
  }
}
const PLAIN_QUERY = JSON.stringify([{}, null, 'asc'])

/**
 * Reads rows with relations in order of id. The database joins the relations (relationJoins), so this is one
 * statement.
 */
async function readPageById(
  ctx: Ctx,
  { descending }: UserListQuery,
  paging: Paging,
  query: UserQuery,
): Promise<KeyedRow<User>[]> {
  const page = buildPageQuery(paging, 'id', descending)
  const rows = await ctx.db.prisma.user.findMany({
    ...query,
    ...page,
    where: { tenantId: ctx.tenant, ...page.where },
  })
  return rows.map((row) => ({ key: { id: row.id, value: null }, row }))
}

/**
 * Reads rows with relations of another list: first the ids, then the rows. A user who is deleted in between
 * is null.
 */
async function readPageByKeys(
  ctx: Ctx,
  list: UserListQuery,
  paging: Paging,
  query: UserQuery,
): Promise<KeyedRow<User | null>[]> {
  const keys = (await selectUserPage(ctx.db, list, paging, 'keys')).map(({ key }) => key)
  const users = await ctx.db.prisma.user.findMany({
    ...query,
    where: { tenantId: ctx.tenant, id: { in: keys.map(({ id }) => id) } },
  })
  const byId = new Map(users.map((user) => [user.id, user]))
  return keys.map((key) => ({ key, row: byId.get(key.id) ?? null }))
}

/**
 * Lists the users, filtered and ordered as USER_LISTS supports; by default by id, which is the order of
 * creation. One statement, two with relations in a list that is filtered, ordered or read by offset, and one more for
 * totalSize, and for a page by offset of all users by a field that is far from the start. With `fields`, rows may contain only the columns of these fields; `buildQuery` returns the relations of other
 * fields. Dates of rows without relations are text. Throws InvalidInput, and Forbidden for a filter on a field that the
 * caller may not read.
 */
export async function listUsers(
  ctx: Ctx,
  args: ListArgs,
  { fields, buildQuery }: { fields?: Iterable<string>; buildQuery?: () => UserQuery } = {},
): Promise<Page<User | ListedUser>> {
  const { query: list, name } = buildListQuery(ctx, args)
  const paging = parsePaging(ctx, args, name)
  const isPlain = isPlainList(list)
  // Prisma would read every row before the page.
  const isFirst = paging.mode === 'cursor' || paging.page === 0
  const columns = fields ? selectColumnsForFields(fields) : null
  const query = columns ? {} : (buildQuery?.() ?? {})
  const read: KeyedRow<User | ListedUser | null>[] =
    Object.keys(query).length === 0
      ? await selectUserPage(ctx.db, list, paging, columns)
      : await (isPlain && isFirst ? readPageById : readPageByKeys)(ctx, list, paging, query)
  const { rows, ...ends } = toPageRows(paging, read)
  let keys: Map<string, CursorKey> | undefined
  const findKey = (id: string): CursorKey => {
    keys ??= new Map(rows.map(({ key }) => [key.id, key]))
    return keys.get(id) ?? { id, value: null }
  }
  return {
    ...ends,
    rows: rows.flatMap(({ row }) => row ?? []),
    page: paging.mode === 'offset' ? paging.page : null,
    pageSize: paging.pageSize,
    encodeRowCursor: ({ id }) => encodeCursor(name, findKey(id)),
    countAll: () => selectUserCount(ctx.db, list),
  }
}
