import type { Bind } from '../keyset.ts'
import { emailKeyOf, phoneNumberOf } from './addresses.ts'
import type { FilterMember, UserFilter } from './user-filter.fields.ts'

/** Behind every text that begins with what stands before it, as terms collate "C". */
const END = '\u{10ffff}'

/** Rows (low, high) of the ranges of terms in which a user must have one each. */
export const WANTED = {
  search: ({ search }: UserFilter, bind: Bind): string =>
    `SELECT 'w:' || word AS "low", 'w:' || word || '${END}' AS "high" FROM unnest(search_words(${bind(search)}::text)) word`,
  // A path with its value is one term, which begins no other.
  appMetadata: ({ appMetadata }: UserFilter, bind: Bind): string =>
    `SELECT term AS "low", term || '${END}' AS "high"
     FROM jsonb_each(${bind(JSON.stringify(appMetadata))}::jsonb) path, metadata_term(path.key, path.value) term`,
}

/** Whether a user has a term of a range: one look into the index. OFFSET keeps the planner from making a join of it. */
export const hasTerm = (userId: string, low: string, high: string): string =>
  `EXISTS (SELECT FROM "UserTerm" s WHERE s."tenantId" = $1 AND s."userId" = ${userId} AND s."term" >= ${low} AND s."term" < ${high} OFFSET 0)`

const range =
  (member: 'createdAt' | 'updatedAt' | 'lastSeenAt') =>
  (filter: UserFilter, bind: Bind): string => {
    const { gte, lt } = filter[member] ?? {}
    return [
      ...(gte ? [`u."${member}" >= ${bind(gte)}::timestamptz`] : []),
      ...(lt ? [`u."${member}" < ${bind(lt)}::timestamptz`] : []),
    ].join(' AND ')
  }
const flag =
  (member: 'locked' | 'emailVerified' | 'phoneNumberVerified' | 'hasCredential') =>
  (filter: UserFilter, bind: Bind): string =>
    `u."${member}" = ${bind(filter[member])}::boolean`

/** Conditions on the columns of a user, u. */
const OF_COLUMNS: Partial<Record<FilterMember, (filter: UserFilter, bind: Bind) => string>> = {
  email: ({ email }, bind) => `u."emailKey" = ${bind(emailKeyOf(email ?? ''))}::text`,
  phoneNumber: ({ phoneNumber }, bind) =>
    `u."phoneNumberKey" = ${bind(phoneNumberOf(phoneNumber ?? '')?.key)}::text`,
  externalId: ({ externalId }, bind) => `u."externalId" = ${bind(externalId)}::text`,
  locked: flag('locked'),
  emailVerified: flag('emailVerified'),
  phoneNumberVerified: flag('phoneNumberVerified'),
  hasCredential: flag('hasCredential'),
  createdAt: range('createdAt'),
  updatedAt: range('updatedAt'),
  lastSeenAt: range('lastSeenAt'),
}

/** Conditions on u for those of the members that are about its columns. */
export const columnConditions = (
  filter: UserFilter,
  members: readonly FilterMember[],
  bind: Bind,
): string[] =>
  members.flatMap((member) =>
    filter[member] === undefined ? [] : (OF_COLUMNS[member]?.(filter, bind) ?? []),
  )

/** Conditions for members of the filter on a user who was found otherwise; u is the user's row where `isUser`. */
export function residualConditions(
  filter: UserFilter,
  members: readonly FilterMember[],
  { userId, isUser }: { userId: string; isUser: boolean },
  bind: Bind,
): string[] {
  const columns = columnConditions(filter, members, bind)
  const kinds = (['search', 'appMetadata'] as const).filter(
    (kind) => members.includes(kind) && filter[kind] !== undefined,
  )
  return [
    ...(isUser || columns.length === 0
      ? columns
      : [`(SELECT ${columns.join(' AND ')} FROM "User" u WHERE u."tenantId" = $1 AND u."id" = ${userId})`]),
    ...kinds.map(
      (kind) =>
        `(SELECT bool_and(${hasTerm(userId, 'w."low"', 'w."high"')}) FROM (${WANTED[kind](filter, bind)}) w)`,
    ),
    ...(members.includes('idpId') && filter.idpId !== undefined
      ? [
          `EXISTS (SELECT FROM "IdpUser" l WHERE l."tenantId" = $1 AND l."userId" = ${userId} AND l."idpId" = ${bind(filter.idpId)}::text OFFSET 0)`,
        ]
      : []),
  ]
}
