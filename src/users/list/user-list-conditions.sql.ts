import type { BindParameter } from '../../database/keyset.ts'
import { buildFilterConditions } from '../../database/lists/filter-conditions.ts'
import { buildHasTermSql, LAST_CHARACTER, type TermTable } from '../../database/lists/term-lists.ts'
import { USER_FILTER, type UserFilter, type UserFilterMember } from './user-filter.fields.ts'

export const USER_TERMS: TermTable = { table: 'UserTerm', id: 'userId' }

/** Words with dots between them, as a domain has. */
const DOTTED_WORDS = /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u

/** The text of a search. Dotted words get an @ where a user of the tenant has an address at such a domain. */
function buildSearchTextSql(search: string, bind: BindParameter): string {
  const parts = search.split(/\s+/)
  if (!parts.some((part) => DOTTED_WORDS.test(part))) return `${bind(search)}::text`
  const domain = `'w:@' || fold_text(part)`
  const isDomain = `part ~ '[.]' AND EXISTS (SELECT FROM "UserTerm" d WHERE d."tenantId" = $1 AND d."term" >= ${domain} AND d."term" < ${domain} || '${LAST_CHARACTER}')`
  return `(SELECT string_agg(CASE WHEN ${isDomain} THEN '@' || part ELSE part END, ' ') FROM unnest(${bind(parts)}::text[]) part)`
}

/** Rows (low, high) of the ranges of terms in which a user must have one each. */
export const TERM_RANGES = {
  search: ({ search }: UserFilter, bind: BindParameter): string =>
    `SELECT 'w:' || word AS "low", 'w:' || word || '${LAST_CHARACTER}' AS "high" FROM unnest(search_words(${buildSearchTextSql(search ?? '', bind)})) word`,
  // A path with its value is one term, which begins no other.
  appMetadata: ({ appMetadata }: UserFilter, bind: BindParameter): string =>
    `SELECT term AS "low", term || '${LAST_CHARACTER}' AS "high"
     FROM jsonb_each(${bind(JSON.stringify(appMetadata))}::jsonb) path, metadata_term(path.key, path.value) term`,
}

/** Conditions on u for those of the members that are about its columns. */
export const buildColumnConditions = (
  filter: UserFilter,
  names: readonly UserFilterMember[],
  bind: BindParameter,
): string[] => [
  ...buildFilterConditions(USER_FILTER, filter, { names, alias: 'u' }, bind),
  // Few users have a role: the index has these.
  ...(names.includes('role') && filter.role !== undefined
    ? [`u."roles" <> '{}' AND ${bind(filter.role)}::text = ANY(u."roles")`]
    : []),
]

/**
 * Conditions for members of the filter on a user who was found otherwise; u is the user's row where `isUser`.
 */
export function buildResidualConditions(
  filter: UserFilter,
  members: readonly UserFilterMember[],
  { userId, isUser }: { userId: string; isUser: boolean },
  bind: BindParameter,
): string[] {
  const columns = buildColumnConditions(filter, members, bind)
  const kinds = (['search', 'appMetadata'] as const).filter(
    (kind) => members.includes(kind) && filter[kind] !== undefined,
  )
  return [
    ...(isUser || columns.length === 0
      ? columns
      : [`(SELECT ${columns.join(' AND ')} FROM "User" u WHERE u."tenantId" = $1 AND u."id" = ${userId})`]),
    ...kinds.map(
      (kind) =>
        `(SELECT bool_and(${buildHasTermSql(USER_TERMS, userId, 'w."low"', 'w."high"')}) FROM (${TERM_RANGES[kind](filter, bind)}) w)`,
    ),
    ...(members.includes('idpId') && filter.idpId !== undefined
      ? [
          `EXISTS (SELECT FROM "IdpUser" l WHERE l."tenantId" = $1 AND l."userId" = ${userId} AND l."idpId" = ${bind(filter.idpId)}::text OFFSET 0)`,
        ]
      : []),
    ...(members.includes('organizationId') && filter.organizationId !== undefined
      ? [
          `EXISTS (SELECT FROM "Membership" m WHERE m."tenantId" = $1 AND m."organizationId" = ${bind(filter.organizationId)}::text AND m."userId" = ${userId} OFFSET 0)`,
        ]
      : []),
  ]
}
