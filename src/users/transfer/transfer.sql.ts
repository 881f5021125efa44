import type { ReadLimit } from '../../core/network/read-limit.ts'
import { storedColumns } from '../../database/columns.ts'
import type { Db } from '../../database/handle.ts'
import { statement, typed } from '../../database/statement.ts'
import type { User } from '../../generated/prisma/client.ts'
import { TENANT } from '../list/index-planning.sql.ts'
import type { UserColumns } from '../user-body.ts'
import {
  buildChangedUserSql,
  buildInsertUsersSql,
  CHANGED_COLUMNS_SQL,
  REQUIRED_DEFAULTS,
  toColumnList,
  USER_COLUMNS,
  WATCHED_COLUMNS,
} from '../users.sql.ts'

/** Values of unique columns that identify users. */
export type LookupKeys = { id: string[]; externalId: string[]; emailKey: string[]; phoneNumberKey: string[] }

const HOLDER_COLUMNS = [
  'id',
  'externalId',
  'email',
  'emailKey',
  'phoneNumber',
  'phoneNumberKey',
  'locked',
  'roles',
] as const
export type Holder = Pick<User, (typeof HOLDER_COLUMNS)[number]>

const withKey = (column: string, keys: string) =>
  `SELECT u."id" FROM unnest(${keys}) key,
    LATERAL (SELECT "id" FROM "User" WHERE "tenantId" = ${TENANT} AND "${column}" = key LIMIT 1) u`
const SELECT_TEXT = `
  SELECT ${toColumnList(HOLDER_COLUMNS)} FROM "User" WHERE "tenantId" = ${TENANT} AND "id" = ANY(ARRAY(
    ${withKey('id', ':id')} UNION ${withKey('externalId', ':externalId')}
    UNION ${withKey('emailKey', ':emailKey')} UNION ${withKey('phoneNumberKey', ':phoneNumberKey')}))`
const HOLDER_TYPES = {
  takes: { id: 'text[]', externalId: 'text[]', emailKey: 'text[]', phoneNumberKey: 'text[]' },
  returns: storedColumns('User', HOLDER_COLUMNS),
} as const

const SELECT_HOLDERS = statement(HOLDER_TYPES)`${SELECT_TEXT}`

/** The users that have any of the keys. */
export const selectHolders = (db: Db, keys: LookupKeys): Promise<Holder[]> =>
  db.many(SELECT_HOLDERS, { ...keys })

/** In one order, so that two concurrent imports wait for each other instead of deadlocking. */
const LOCK_HOLDERS = statement(HOLDER_TYPES)`${SELECT_TEXT} ORDER BY "id" FOR NO KEY UPDATE`

/** The users that have any of the keys, locked until the transaction ends. */
export const lockHolders = (db: Db, keys: LookupKeys): Promise<Holder[]> => db.many(LOCK_HOLDERS, { ...keys })

/** Users whose key a concurrent request took are skipped; the others are inserted. */
const INSERT_USERS = statement({ takes: { users: 'jsonb' }, returns: { id: 'text' } })`
  ${buildInsertUsersSql('jsonb_populate_recordset(NULL::"User", :users)')}
  ON CONFLICT DO NOTHING RETURNING "id"`

export type NewUser = { id: string; columns: UserColumns }

/** Inserts users. Returns the ids of the inserted users; a key of each other user is taken. */
export async function insertUserRows(db: Db, users: NewUser[]): Promise<Set<string>> {
  const rows = users.map(({ id, columns }) => ({ ...REQUIRED_DEFAULTS, ...columns, id }))
  const written = await db.many(INSERT_USERS, { users: rows })
  return new Set(written.map(({ id }) => id))
}

/** The rows are locked, so that their ctid does not change. */
const UPDATE_USERS = statement({
  takes: { users: typed<NewUser[]>('jsonb') },
  returns: { id: 'text', changed: 'text[]' },
})`
  WITH o AS MATERIALIZED (
    SELECT stored.u, stored."at", given."columns" FROM jsonb_to_recordset(:users) AS given("id" TEXT, "columns" JSONB),
      LATERAL (SELECT u, u.ctid AS "at" FROM "User" u WHERE u."tenantId" = ${TENANT} AND u."id" = given."id" LIMIT 1) stored
  )
  UPDATE "User" t SET ${buildChangedUserSql('o."columns"')}
  FROM o, LATERAL jsonb_populate_record(o.u, o."columns") n
  WHERE t.ctid = o."at" AND (${toColumnList(WATCHED_COLUMNS, 'n.')}) IS DISTINCT FROM (${toColumnList(WATCHED_COLUMNS, '(o.u).')})
  RETURNING t."id", ${CHANGED_COLUMNS_SQL}`

/**
 * Updates users that this transaction has locked. Returns the users that changed, with the changed columns.
 */
export const updateUserRows = (db: Db, users: NewUser[]): Promise<{ id: string; changed: string[] }[]> =>
  db.many(UPDATE_USERS, { users })

const SELECT_USERS_AFTER = statement({
  takes: { id: 'text', limit: 'int' },
  returns: storedColumns('User'),
})`
  SELECT ${toColumnList(USER_COLUMNS)} FROM "User" WHERE "tenantId" = ${TENANT} AND "id" > :id ORDER BY "id" LIMIT :limit`

/** The users after an id, in the order of their ids. */
export const selectUsersAfter = (db: Db, id: string, limit: number, bytes: ReadLimit): Promise<User[]> =>
  db.many(SELECT_USERS_AFTER, { id, limit }, bytes)
