import type { Sql } from '../db.ts'
import { Prisma, type User } from '../generated/prisma/client.ts'
import { queueLogoutsSql } from '../sessions/session-clients.sql.ts'
import type { UserColumns } from './user-body.ts'

/** What the statements below, or the database, set by themselves. */
const SET_HERE = [
  'tenantId',
  'id',
  'emailVerified',
  'phoneNumberVerified',
  'lockedAt',
  'lastSeenAt',
  'updatedAt',
  'createdAt',
  'nameKey',
  'hasCredential',
]
export const COLUMNS = Object.keys(Prisma.UserScalarFieldEnum)
/** Columns that hold what the caller wrote. */
const GIVEN = COLUMNS.filter((column) => !SET_HERE.includes(column))
export const list = (columns: readonly string[], of = ''): string =>
  columns.map((column) => `${of}"${column}"`).join(', ')

/** Rows of JSON have no defaults: these are the columns that may not be null. */
export const NOT_NULL = {
  emailVerified: false,
  phoneNumberVerified: false,
  locked: false,
  userMetadata: {},
  appMetadata: {},
  roles: [],
}

/** Writes the users of a source of rows, named u. */
export const insertUsersFrom = (source: string): string => `
  INSERT INTO "User" ("tenantId", "id", "emailVerified", "phoneNumberVerified", "lockedAt", ${list(GIVEN)})
  SELECT $1, u."id", u."emailVerified", u."phoneNumberVerified", CASE WHEN u."locked" THEN now() END, ${list(GIVEN, 'u.')}
  FROM ${source} u`

const INSERT_USER = `${insertUsersFrom('jsonb_populate_record(NULL::"User", $2::jsonb)')}
  RETURNING ${list(COLUMNS)}`

/** Writes a user. The unique indexes refuse an address that is taken. */
export async function insertUser(sql: Sql, tenant: string, id: string, columns: UserColumns): Promise<User> {
  const [user] = await sql<User>(INSERT_USER, [tenant, JSON.stringify({ ...NOT_NULL, ...columns, id })])
  if (!user) throw new Error('the user was not written')
  return user
}

/** Large values keep their stored copy unless they are given: the record would rewrite them. */
const KEPT = ['userMetadata', 'appMetadata']
const FLAGS = ['emailVerified', 'phoneNumberVerified']
/** What is compared to tell whether a change changes anything. */
export const WATCHED = COLUMNS.filter((column) => GIVEN.includes(column) || FLAGS.includes(column))

/**
 * The SET list of a change. `o.u` is the row as it was, locked; `n` the same with the columns of the JSON object `given`
 * laid over it. Nothing moves updatedAt but a difference between the two; and it always moves forward, whichever of two
 * transactions began first.
 */
export function changedUser(given: string): string {
  const assignments = GIVEN.map((column) =>
    KEPT.includes(column)
      ? `"${column}" = CASE WHEN ${given} ? '${column}' THEN n."${column}" ELSE t."${column}" END`
      : `"${column}" = n."${column}"`,
  )
  // A flag holds for the address that it was set with.
  const flag = (name: string, key: string) =>
    `"${name}" = CASE WHEN ${given} ? '${name}' THEN n."${name}" ELSE (o.u)."${name}" AND n."${key}" IS NOT DISTINCT FROM (o.u)."${key}" END`
  return `${assignments.join(', ')},
    ${flag('emailVerified', 'emailKey')}, ${flag('phoneNumberVerified', 'phoneNumberKey')},
    "lockedAt" = CASE WHEN NOT n."locked" THEN NULL WHEN (o.u)."locked" THEN (o.u)."lockedAt" ELSE now() END,
    "updatedAt" = CASE
      WHEN (${list(WATCHED, 'n.')}) IS DISTINCT FROM (${list(WATCHED, '(o.u).')})
      THEN GREATEST(now(), (o.u)."updatedAt" + interval '1 millisecond') ELSE (o.u)."updatedAt" END`
}

/** Names of the columns whose value became another. */
export const CHANGED = `array_remove(ARRAY[${WATCHED.map((column) => `CASE WHEN t."${column}" IS DISTINCT FROM (o.u)."${column}" THEN '${column}' END`).join(', ')}], NULL) AS "changed"`

/** One statement, so that a change needs no read before it. */
const UPDATE_USER = `
  WITH o AS MATERIALIZED (
    SELECT u FROM "User" u WHERE u."tenantId" = $1 AND u."id" = $2 FOR NO KEY UPDATE
  )
  UPDATE "User" t SET ${changedUser('$3::jsonb')}
  FROM o, LATERAL jsonb_populate_record(o.u, $3::jsonb) n
  WHERE t."tenantId" = $1 AND t."id" = $2
  RETURNING ${list(COLUMNS, 't.')}, ${CHANGED},
    (o.u)."roles" AS "oldRoles", (o.u)."updatedAt" AS "oldUpdatedAt", (o.u)."lockedAt" AS "oldLockedAt"`

type OldColumns = { changed: string[]; oldRoles: string[]; oldUpdatedAt: Date; oldLockedAt: Date | null }
export type UpdatedUser = {
  user: User
  /** Columns whose value is another than before. */
  changed: string[]
  before: Pick<User, 'roles' | 'updatedAt' | 'lockedAt'>
}

/** Changes the given columns; null when there is no such user. The row stays locked until the transaction ends. */
export async function updateUserRow(
  sql: Sql,
  tenant: string,
  id: string,
  columns: UserColumns,
): Promise<UpdatedUser | null> {
  const [row] = await sql<User & OldColumns>(UPDATE_USER, [tenant, id, JSON.stringify(columns)])
  if (!row) return null
  const { changed, oldRoles, oldUpdatedAt, oldLockedAt, ...user } = row
  return { user, changed, before: { roles: oldRoles, updatedAt: oldUpdatedAt, lockedAt: oldLockedAt } }
}

const SELECT_TAKEN = `
  SELECT COALESCE(bool_or("emailKey" = $2), false) AS "email", COALESCE(bool_or("phoneNumberKey" = $3), false) AS "phoneNumber",
    COALESCE(bool_or("externalId" = $5), false) AS "externalId"
  FROM "User" WHERE "tenantId" = $1 AND ("emailKey" = $2 OR "phoneNumberKey" = $3 OR "externalId" = $5) AND "id" IS DISTINCT FROM $4`

/** What only one user of a tenant can have. */
export const UNIQUE_FIELDS = ['email', 'phoneNumber', 'externalId'] as const
type Taken = Record<(typeof UNIQUE_FIELDS)[number], boolean>

/** Which of the keys other users hold. */
export async function selectTaken(
  sql: Sql,
  tenant: string,
  { emailKey, phoneNumberKey, externalId }: Pick<UserColumns, 'emailKey' | 'phoneNumberKey' | 'externalId'>,
  exceptId: string | null,
): Promise<Taken> {
  const values = [emailKey, phoneNumberKey, exceptId, externalId].map((value) => value ?? null)
  const [row] = await sql<Taken>(SELECT_TAKEN, [tenant, ...values])
  return row ?? { email: false, phoneNumber: false, externalId: false }
}

/**
 * What foreign keys do not take along: codes, and the addresses in the log that tell where the person was. Clients are told
 * of sessions that have expired, too, where the clean-up had no time to yet.
 */
const DELETE_USER = `
  WITH unended AS (
    SELECT "id", "clientId", "expiresAt" FROM "Session" WHERE "tenantId" = $1 AND "userId" = $2 AND "endedAt" IS NULL
  ), queued AS (${queueLogoutsSql('unended')}
  ), codes AS (
    DELETE FROM "AuthorizationCode" WHERE "tenantId" = $1 AND "userId" = $2
  ), devices AS (
    DELETE FROM "DeviceCode" WHERE "tenantId" = $1 AND "userId" = $2
  ), places AS (
    UPDATE "Event" SET "ip" = NULL WHERE "tenantId" = $1 AND "userId" = $2 AND "ip" IS NOT NULL
  ), gone AS (
    DELETE FROM "User" WHERE "tenantId" = $1 AND "id" = $2
  )
  SELECT "id", "clientId" FROM unended WHERE "expiresAt" > now()`

/** Deletes a held user with everything of theirs; answers the sessions that this ended. */
export const deleteUserRow = (sql: Sql, tenant: string, id: string) =>
  sql<{ id: string; clientId: string | null }>(DELETE_USER, [tenant, id])
