import type { Db } from '../database/handle.ts'
import { type BindParameter, createBinder } from '../database/keyset.ts'
import { boundStatement } from '../database/statement.ts'
import { toEmailKey } from '../schema/address-keys.ts'
import type { Filter, FilterTerm } from './filter.ts'
import { ScimError } from './scim-errors.ts'

/** Users among which a filter without an index, or an order, is computed. */
const MAX_SCANNED = 10_000

type Kind = 'text' | 'exact' | 'email' | 'boolean' | 'time'
type Column = { sql: string; kind: Kind }

/** The userName as comparisons use it: an address as sign-ins compare it, another text without its case. */
export const toUserNameKey = (userName: string): string =>
  toEmailKey(userName) ?? userName.normalize('NFC').toLowerCase()

/** The attributes by which users are filtered and sorted, of `u`, the row of SCIM `s` and the membership `m`. */
const listColumns = (organizationId: string | null): Record<string, Column> => {
  const email: Column = { sql: 'u."emailKey"', kind: 'email' }
  const name: Column = { sql: 'u."name"', kind: 'text' }
  return {
    id: { sql: 'u."id"', kind: 'exact' },
    username: { sql: 'COALESCE(s."userNameKey", u."emailKey", u."id")', kind: 'email' },
    externalid: { sql: 's."externalId"', kind: 'exact' },
    emails: email,
    'emails.value': email,
    'emails.type': { sql: `CASE WHEN u."email" IS NOT NULL THEN 'work' END`, kind: 'text' },
    'emails.primary': { sql: 'u."email" IS NOT NULL', kind: 'boolean' },
    active: {
      sql: organizationId === null ? 'NOT u."locked"' : 'm."userId" IS NOT NULL',
      kind: 'boolean',
    },
    displayname: name,
    'name.formatted': name,
    'name.givenname': { sql: 'u."givenName"', kind: 'text' },
    'name.familyname': { sql: 'u."familyName"', kind: 'text' },
    nickname: { sql: 'u."nickname"', kind: 'text' },
    'meta.created': { sql: 'u."createdAt"', kind: 'time' },
    'meta.lastmodified': { sql: 'GREATEST(u."updatedAt", s."updatedAt", m."updatedAt")', kind: 'time' },
  }
}
type Columns = ReturnType<typeof listColumns>

const getColumn = (columns: Columns, path: string): Column => {
  const column = Object.hasOwn(columns, path) ? columns[path] : undefined
  if (!column)
    throw new ScimError('invalidFilter', `Users are neither filtered nor sorted by ${path.slice(0, 100)}.`)
  return column
}

const OPERATORS = { eq: '=', ne: '<>', gt: '>', ge: '>=', lt: '<', le: '<=' } as const

const createValueError = ({ path }: FilterTerm, expected: string) =>
  new ScimError('invalidFilter', `${path} is compared with ${expected}.`)

function buildTermSql(term: FilterTerm, columns: Columns, bind: BindParameter): string {
  const { sql, kind } = getColumn(columns, term.path)
  if (term.op === 'pr') return `(${sql} IS NOT NULL)`
  const { op, value } = term
  if (value === null && (op === 'eq' || op === 'ne')) return `(${sql} IS ${op === 'eq' ? '' : 'NOT '}NULL)`
  if (kind === 'boolean') {
    const text = String(value).toLowerCase()
    if ((text !== 'true' && text !== 'false') || (op !== 'eq' && op !== 'ne'))
      throw createValueError(term, 'true or false by eq or ne')
    return `((${sql}) = ${(text === 'true') === (op === 'eq')})`
  }
  if (typeof value !== 'string') throw createValueError(term, 'a text')
  if (kind === 'time') {
    const time = new Date(value)
    if (Number.isNaN(time.getTime()) || !(op in OPERATORS)) throw createValueError(term, 'a time')
    return `(${sql} ${OPERATORS[op as keyof typeof OPERATORS]} ${bind(time)}::timestamptz)`
  }
  if (value.includes('\0') || !value.isWellFormed()) throw createValueError(term, 'a text that can be stored')
  const folded = kind === 'exact' ? value : kind === 'email' ? toUserNameKey(value) : value.toLowerCase()
  const left = kind === 'text' ? `lower(${sql})` : sql
  const right = `${bind(folded)}::text`
  if (op === 'co') return `(strpos(${left}, ${right}) > 0)`
  if (op === 'sw') return `starts_with(${left}, ${right})`
  if (op === 'ew') return `(right(${left}, length(${right})) = ${right})`
  return op === 'ne'
    ? `(${left} IS DISTINCT FROM ${right})`
    : `(${left} ${OPERATORS[op as keyof typeof OPERATORS]} ${right})`
}

function buildFilterSql(filter: Filter, columns: Columns, bind: BindParameter): string {
  if (filter.op === 'and' || filter.op === 'or')
    return `(${filter.parts.map((part) => buildFilterSql(part, columns, bind)).join(filter.op === 'and' ? ' AND ' : ' OR ')})`
  if (filter.op === 'not') return `(NOT COALESCE(${buildFilterSql(filter.part, columns, bind)}, false))`
  return buildTermSql(filter, columns, bind)
}

const OWN_ROW = 's."tenantId" = $1 AND s."ownerId" = $2::text'

const LOOKED_UP = ['id', 'username', 'externalid', 'emails', 'emails.value']

/** Whether unique indexes find the users who may satisfy a filter; otherwise all users are read. */
function isLookedUp(filter: Filter): boolean {
  if (filter.op === 'and') return filter.parts.some(isLookedUp)
  if (filter.op === 'or') return filter.parts.every(isLookedUp)
  return filter.op === 'eq' && typeof filter.value === 'string' && LOOKED_UP.includes(filter.path)
}

const byColumn = (column: 'id' | 'emailKey', value: string, bind: BindParameter) =>
  `SELECT u."id" FROM "User" u WHERE u."tenantId" = $1 AND u."${column}" = ${bind(value)}::text`
const byGiven = (column: 'userNameKey' | 'externalId', value: string, bind: BindParameter) =>
  `SELECT s."userId" AS "id" FROM "ScimUser" s WHERE ${OWN_ROW} AND s."${column}" = ${bind(value)}::text`

/** The ids that may satisfy a filter that is looked up. */
function buildLookupSql(filter: Filter, bind: BindParameter): string {
  if (filter.op === 'and') return buildLookupSql(filter.parts.find(isLookedUp) as Filter, bind)
  if (filter.op === 'or') return filter.parts.map((part) => buildLookupSql(part, bind)).join(' UNION ')
  const { path, value } = filter as { path: string; value: string }
  if (path === 'id') return byColumn('id', value, bind)
  if (path === 'externalid') return byGiven('externalId', value, bind)
  const byEmail = byColumn('emailKey', toUserNameKey(value), bind)
  return path === 'username'
    ? `${byGiven('userNameKey', toUserNameKey(value), bind)} UNION ${byEmail} UNION ${byColumn('id', value, bind)}`
    : byEmail
}

/** All users of the tenant; of an organization its members, and those whose membership a SCIM client has ended. */
const buildAllSql = (organizationId: string | null): string =>
  organizationId === null
    ? 'SELECT u."id" FROM "User" u WHERE u."tenantId" = $1 AND $2::text = \'\''
    : `SELECT m."userId" AS "id" FROM "Membership" m WHERE m."tenantId" = $1 AND m."organizationId" = $2::text
       UNION SELECT s."userId" FROM "ScimUser" s WHERE ${OWN_ROW}`

export type UserQuery = {
  organizationId: string | null
  filter: Filter | null
  sortBy: string | null
  descending: boolean
  offset: number
  limit: number
  /** The id that the page follows, instead of an offset; null for a page by offset. */
  after: string | null
}

/** The statement of a page of ids, with the number of all, and of those that were read for it. */
export function buildUserIdsStatement(
  tenant: string,
  { organizationId, filter, sortBy, descending, offset, limit, after }: UserQuery,
) {
  const bind = createBinder(tenant)
  bind(organizationId ?? '')
  const columns = listColumns(organizationId)
  const isPlain = filter === null && sortBy === null
  const candidates = filter && isLookedUp(filter) ? buildLookupSql(filter, bind) : buildAllSql(organizationId)
  const conditions = [
    ...(organizationId === null ? [] : ['(m."userId" IS NOT NULL OR s."userId" IS NOT NULL)']),
    ...(filter ? [buildFilterSql(filter, columns, bind)] : []),
  ]
  const membership =
    organizationId === null
      ? '(SELECT NULL::text AS "userId", NULL::timestamptz AS "updatedAt") m ON true'
      : '"Membership" m ON m."tenantId" = $1 AND m."organizationId" = $2::text AND m."userId" = c."id"'
  const [skipped, taken] = [bind(offset), bind(limit)].map((parameter) => `${parameter}::int`)
  const page = after === null ? '' : `WHERE "id" > ${bind(after)}::text`
  if (isPlain) {
    const total =
      organizationId === null
        ? `(SELECT COALESCE(sum("users"), 0) FROM "UserCount" WHERE "tenantId" = $1)`
        : `(SELECT count(*) FROM (${candidates}) a)`
    return boundStatement(
      RETURNS,
      `SELECT ARRAY(SELECT a."id" FROM (${candidates}) a ${page} ORDER BY a."id" OFFSET ${skipped} LIMIT ${taken}) AS "ids",
         ${total}::int AS "total", 0 AS "read"`,
      bind.values,
    )
  }
  const direction = descending ? 'DESC' : 'ASC'
  const sort = sortBy === null ? '' : `${getColumn(columns, sortBy).sql} ${direction} NULLS LAST, `
  return boundStatement(
    RETURNS,
    `WITH read AS MATERIALIZED (SELECT a."id" FROM (${candidates}) a LIMIT ${MAX_SCANNED + 1}), found AS MATERIALIZED (
       SELECT c."id", row_number() OVER (ORDER BY ${sort}c."id" ${direction}) AS "place" FROM read c
       JOIN "User" u ON u."tenantId" = $1 AND u."id" = c."id"
       LEFT JOIN "ScimUser" s ON ${OWN_ROW} AND s."userId" = c."id"
       LEFT JOIN ${membership}${conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''}
     )
     SELECT ARRAY(SELECT "id" FROM found ${page} ORDER BY "place" OFFSET ${skipped} LIMIT ${taken}) AS "ids",
       (SELECT count(*) FROM found)::int AS "total", (SELECT count(*) FROM read)::int AS "read"`,
    bind.values,
  )
}
const RETURNS = { ids: 'text[]', total: 'int', read: 'int' } as const

/** The ids of a page, and the number of all that the filter matches. Throws ScimError tooMany and invalidFilter. */
export async function selectUserIds(db: Db, query: UserQuery): Promise<{ ids: string[]; total: number }> {
  const [row] = await db.list(buildUserIdsStatement(db.tenant, query))
  if (row && row.read > MAX_SCANNED)
    throw new ScimError(
      'tooMany',
      `Among more than ${MAX_SCANNED} users, a filter must demand id, userName, externalId or emails by eq, and users are not sorted.`,
    )
  return { ids: row?.ids ?? [], total: row?.total ?? 0 }
}
