import type { EndedSession } from '../access/revocation/revocation.sql.ts'
import { DELETED_USER_PARTS } from '../access/revocation/revocation-parts.sql.ts'
import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'
import { Prisma, type User } from '../generated/prisma/client.ts'
import type { UserColumns } from './user-body.ts'

/** Columns that the statements below or the database set. */
const DERIVED_COLUMNS = [
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
  'hasSecondFactor',
  'credentialRemovedAt',
  'codeGeneration',
  'passkeyOfferedAt',
]
export const USER_COLUMNS = Object.keys(Prisma.UserScalarFieldEnum)
/** Columns that the caller writes. */
const GIVEN_COLUMNS = USER_COLUMNS.filter((column) => !DERIVED_COLUMNS.includes(column))
export const toColumnList = (columns: readonly string[], of = ''): string =>
  columns.map((column) => `${of}"${column}"`).join(', ')

/** Defaults of columns that must not be null, because rows from JSON have no defaults. */
export const REQUIRED_DEFAULTS = {
  emailVerified: false,
  phoneNumberVerified: false,
  locked: false,
  userMetadata: {},
  appMetadata: {},
  roles: [],
}

/** Inserts users from a source of rows named u. */
export const buildInsertUsersSql = (source: string): string => `
  INSERT INTO "User" ("tenantId", "id", "emailVerified", "phoneNumberVerified", "lockedAt", ${toColumnList(GIVEN_COLUMNS)})
  SELECT :tenant, u."id", u."emailVerified", u."phoneNumberVerified", CASE WHEN u."locked" THEN now() END, ${toColumnList(GIVEN_COLUMNS, 'u.')}
  FROM ${source} u`

const INSERT_USER = statement({ takes: { columns: 'jsonb' }, returns: storedColumns('User') })`
  ${buildInsertUsersSql('jsonb_populate_record(NULL::"User", :columns)')}
  RETURNING ${toColumnList(USER_COLUMNS)}`

/** Inserts a user. A taken address or externalId violates a unique index. */
export async function insertUserRow(db: Db, id: string, columns: UserColumns): Promise<User> {
  const user = await db.one(INSERT_USER, { columns: { ...REQUIRED_DEFAULTS, ...columns, id } })
  if (!user) throw new Error('the user was not written')
  return user
}

/** Large values are written only when they are given, because the record would rewrite them otherwise. */
const DOCUMENT_COLUMNS = ['userMetadata', 'appMetadata']
const VERIFICATION_FLAGS = ['emailVerified', 'phoneNumberVerified']
/** Columns that are compared to detect a difference. */
export const WATCHED_COLUMNS = USER_COLUMNS.filter(
  (column) => GIVEN_COLUMNS.includes(column) || VERIFICATION_FLAGS.includes(column),
)

/**
 * The SET list of an update. `o.u` is the locked row; `n` is the same with the columns of the JSON object
 * `given` applied. updatedAt moves only when the two differ, and always forward, whichever of two
 * transactions began first.
 */
export function buildChangedUserSql(given: string): string {
  const assignments = GIVEN_COLUMNS.map((column) =>
    DOCUMENT_COLUMNS.includes(column)
      ? `"${column}" = CASE WHEN ${given} ? '${column}' THEN n."${column}" ELSE t."${column}" END`
      : `"${column}" = n."${column}"`,
  )
  // A verified flag belongs to the address with which it was set.
  const buildFlagSql = (name: string, key: string) =>
    `"${name}" = CASE WHEN ${given} ? '${name}' THEN n."${name}" ELSE (o.u)."${name}" AND n."${key}" IS NOT DISTINCT FROM (o.u)."${key}" END`
  return `${assignments.join(', ')},
    ${buildFlagSql('emailVerified', 'emailKey')}, ${buildFlagSql('phoneNumberVerified', 'phoneNumberKey')},
    "lockedAt" = CASE WHEN NOT n."locked" THEN NULL WHEN (o.u)."locked" THEN (o.u)."lockedAt" ELSE now() END,
    "updatedAt" = CASE
      WHEN (${toColumnList(WATCHED_COLUMNS, 'n.')}) IS DISTINCT FROM (${toColumnList(WATCHED_COLUMNS, '(o.u).')})
      THEN GREATEST(now(), (o.u)."updatedAt" + interval '1 millisecond') ELSE (o.u)."updatedAt" END`
}

/** Names of the changed columns. */
export const CHANGED_COLUMNS_SQL = `array_remove(ARRAY[${WATCHED_COLUMNS.map((column) => `CASE WHEN t."${column}" IS DISTINCT FROM (o.u)."${column}" THEN '${column}' END`).join(', ')}], NULL) AS "changed"`

/** One statement, so that an update needs no read before it. */
const UPDATE_USER = statement({
  takes: { id: 'text', columns: 'jsonb' },
  returns: {
    ...storedColumns('User'),
    changed: 'text[]',
    oldRoles: 'text[]',
    oldUpdatedAt: 'timestamptz',
    oldLockedAt: 'timestamptz?',
  },
})`
  WITH o AS MATERIALIZED (
    SELECT u FROM "User" u WHERE u."tenantId" = :tenant AND u."id" = :id FOR NO KEY UPDATE
  )
  UPDATE "User" t SET ${buildChangedUserSql(':columns')}
  FROM o, LATERAL jsonb_populate_record(o.u, :columns) n
  WHERE t."tenantId" = :tenant AND t."id" = :id
  RETURNING ${toColumnList(USER_COLUMNS, 't.')}, ${CHANGED_COLUMNS_SQL},
    (o.u)."roles" AS "oldRoles", (o.u)."updatedAt" AS "oldUpdatedAt", (o.u)."lockedAt" AS "oldLockedAt"`

export type UpdatedUser = {
  user: User
  /** The changed columns. */
  changed: string[]
  before: Pick<User, 'roles' | 'updatedAt' | 'lockedAt'>
}

/**
 * Updates the given columns; null when the user does not exist. The row stays locked until the transaction
 * ends.
 */
export async function updateUserRow(db: Db, id: string, columns: UserColumns): Promise<UpdatedUser | null> {
  const row = await db.one(UPDATE_USER, { id, columns })
  if (!row) return null
  const { changed, oldRoles, oldUpdatedAt, oldLockedAt, ...user } = row
  return { user, changed, before: { roles: oldRoles, updatedAt: oldUpdatedAt, lockedAt: oldLockedAt } }
}

const SELECT_CONFLICTS = statement({
  takes: { emailKey: 'text?', phoneNumberKey: 'text?', externalId: 'text?', exceptId: 'text?' },
  returns: { email: 'boolean', phoneNumber: 'boolean', externalId: 'boolean' },
})`
  SELECT COALESCE(bool_or("emailKey" = :emailKey), false) AS "email",
    COALESCE(bool_or("phoneNumberKey" = :phoneNumberKey), false) AS "phoneNumber",
    COALESCE(bool_or("externalId" = :externalId), false) AS "externalId"
  FROM "User"
  WHERE "tenantId" = :tenant AND ("emailKey" = :emailKey OR "phoneNumberKey" = :phoneNumberKey OR "externalId" = :externalId)
    AND "id" IS DISTINCT FROM :exceptId`

/** Unique keys of a user in a tenant. */
export const UNIQUE_FIELDS = ['email', 'phoneNumber', 'externalId'] as const
type UniqueConflicts = Record<(typeof UNIQUE_FIELDS)[number], boolean>

/** The keys that belong to another user than `exceptId`. */
export async function selectConflicts(
  db: Db,
  { emailKey, phoneNumberKey, externalId }: Pick<UserColumns, 'emailKey' | 'phoneNumberKey' | 'externalId'>,
  exceptId: string | null,
): Promise<UniqueConflicts> {
  const row = await db.one(SELECT_CONFLICTS, {
    emailKey: emailKey ?? null,
    phoneNumberKey: phoneNumberKey ?? null,
    externalId: externalId ?? null,
    exceptId,
  })
  return row ?? { email: false, phoneNumber: false, externalId: false }
}

/**
 * Foreign keys delete the other rows of the user. IP addresses and devices in the event log would reveal where the
 * user was.
 */
const DELETE_USER = statement({
  takes: { userId: 'text' },
  returns: { id: 'text', userId: 'text', clientId: 'text?' },
})`
  WITH ${DELETED_USER_PARTS}, cleared_ips AS (
    UPDATE "Event" SET "ip" = NULL, "deviceId" = NULL
    WHERE "tenantId" = :tenant AND "userId" = :userId AND ("ip" IS NOT NULL OR "deviceId" IS NOT NULL)
  ), deleted_user AS (
    DELETE FROM "User" WHERE "tenantId" = :tenant AND "id" = :userId
  )
  SELECT "id", "userId", "clientId" FROM unended_sessions WHERE "expiresAt" > now()`

/**
 * Deletes a user whose row is locked, with all that belongs to the user; returns the sessions that this
 * ended.
 */
export const deleteUserRow = (db: Db, userId: string): Promise<EndedSession[]> =>
  db.many(DELETE_USER, { userId })

const ADD_ROLES = statement({
  takes: { id: 'text', roles: 'text[]' },
  returns: { roles: 'text[]' },
})`
  UPDATE "User" SET "roles" = ARRAY(SELECT DISTINCT r FROM unnest("roles" || :roles) r ORDER BY r),
    "updatedAt" = GREATEST(now(), "updatedAt" + interval '1 millisecond')
  WHERE "tenantId" = :tenant AND "id" = :id AND NOT "roles" @> :roles RETURNING "roles"`

/** Adds roles to a user; null when the user has all of them. */
export const updateUserRoles = (db: Db, id: string, roles: string[]): Promise<{ roles: string[] } | null> =>
  db.one(ADD_ROLES, { id, roles })

const SELECT_HOLDER = statement({ takes: { role: 'text' }, returns: { id: 'text' } })`
  SELECT u."id" FROM "User" u WHERE u."tenantId" = :tenant AND u."roles" <> '{}' AND :role = ANY (u."roles") LIMIT 1`

/** Whether a user has a role. */
export const hasRoleHolder = async (db: Db, role: string): Promise<boolean> =>
  (await db.one(SELECT_HOLDER, { role })) !== null

const STORE_TERMS_CONSENT = statement({
  takes: { userId: 'text', version: 'text', now: 'timestamptz', events: 'jsonb' },
  returns: { id: 'text' },
})`
  WITH agreed AS (
    UPDATE "User" SET "termsVersion" = :version, "termsAcceptedAt" = :now,
      "updatedAt" = GREATEST(:now, "updatedAt" + interval '1 millisecond')
    WHERE "tenantId" = :tenant AND "id" = :userId AND NOT "locked" AND "termsVersion" IS DISTINCT FROM :version
    RETURNING "id"
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'agreed' })})
  SELECT "id" FROM agreed`

/** Stores the consent of a user with its event; nothing when it is stored, or the user is locked or deleted. */
export const storeTermsConsent = (
  db: Db,
  consent: { userId: string; version: string; now: Date },
  event: object,
): Promise<void> => db.run(STORE_TERMS_CONSENT, { ...consent, events: [event] })
