import type { Sql } from '../db.ts'
import type { User } from '../generated/prisma/client.ts'
import { TENANT } from './plan-by-keys.sql.ts'
import type { UserColumns } from './user-body.ts'
import { CHANGED, changedUser, insertUsersFrom, list, NOT_NULL, WATCHED } from './users.sql.ts'

/** What identifies users: values of columns that are unique in a tenant. */
export type Keys = { id: string[]; externalId: string[]; emailKey: string[]; phoneNumberKey: string[] }

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

const havers = (column: string, keys: string) =>
  `SELECT u."id" FROM unnest(${keys}::text[]) key,
    LATERAL (SELECT "id" FROM "User" WHERE "tenantId" = ${TENANT} AND "${column}" = key LIMIT 1) u`
const HOLDERS = `
  SELECT ${list(HOLDER_COLUMNS)} FROM "User" WHERE "tenantId" = ${TENANT} AND "id" = ANY(ARRAY(
    ${havers('id', '$2')} UNION ${havers('externalId', '$3')} UNION ${havers('emailKey', '$4')} UNION ${havers('phoneNumberKey', '$5')}))`

/** The users that hold any of the keys. */
export const selectHolders = (sql: Sql, tenant: string, keys: Keys): Promise<Holder[]> =>
  sql<Holder>(HOLDERS, [tenant, keys.id, keys.externalId, keys.emailKey, keys.phoneNumberKey])

/** In one order, so that two imports wait for each other rather than both for ever. */
const LOCK_HOLDERS = `${HOLDERS} ORDER BY "id" FOR NO KEY UPDATE`

/** The same, locked until the transaction ends. */
export const lockHolders = (sql: Sql, tenant: string, keys: Keys): Promise<Holder[]> =>
  sql<Holder>(LOCK_HOLDERS, [tenant, keys.id, keys.externalId, keys.emailKey, keys.phoneNumberKey])

/** What somebody else took meanwhile is left out rather than failing the rest. */
const INSERT_USERS = `${insertUsersFrom('jsonb_populate_recordset(NULL::"User", $2::jsonb)')}
  ON CONFLICT DO NOTHING RETURNING "id"`

export type NewUser = { id: string; columns: UserColumns }

/** Writes users; answers the ids of those that were written: a key of the others is taken. */
export async function insertUsers(sql: Sql, tenant: string, users: NewUser[]): Promise<Set<string>> {
  const rows = users.map(({ id, columns }) => ({ ...NOT_NULL, ...columns, id }))
  const written = await sql<{ id: string }>(INSERT_USERS, [tenant, JSON.stringify(rows)])
  return new Set(written.map(({ id }) => id))
}

/** The rows are locked, so that they stay where they are. */
const UPDATE_USERS = `
  WITH o AS MATERIALIZED (
    SELECT held.u, held."at", given."columns" FROM jsonb_to_recordset($2::jsonb) AS given("id" TEXT, "columns" JSONB),
      LATERAL (SELECT u, u.ctid AS "at" FROM "User" u WHERE u."tenantId" = ${TENANT} AND u."id" = given."id" LIMIT 1) held
  )
  UPDATE "User" t SET ${changedUser('o."columns"')}
  FROM o, LATERAL jsonb_populate_record(o.u, o."columns") n
  WHERE t.ctid = o."at" AND (${list(WATCHED, 'n.')}) IS DISTINCT FROM (${list(WATCHED, '(o.u).')})
  RETURNING t."id", ${CHANGED}`

/** Changes users that this transaction has locked; answers those that it made another, with the changed columns. */
export const updateUsers = (
  sql: Sql,
  tenant: string,
  users: NewUser[],
): Promise<{ id: string; changed: string[] }[]> => sql(UPDATE_USERS, [tenant, JSON.stringify(users)])
