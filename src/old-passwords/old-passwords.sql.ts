import type { Db } from '../database/handle.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'

export type StoredPassword = { userId: string; hash: string; place: number }

const SELECT_STORED = statement({
  takes: { userIds: 'text[]' },
  returns: { userId: 'text', hash: 'text?', isUsed: 'boolean' },
})`
  SELECT "userId", "hash", "usedAt" IS NOT NULL AS "isUsed" FROM "OldPassword"
  WHERE "tenantId" = :tenant AND "userId" = ANY(:userIds)`

/** The stored passwords of users whose rows the transaction has locked. */
export const selectStoredPasswords = (db: Db, userIds: string[]): Promise<RowOf<typeof SELECT_STORED>[]> =>
  db.many(SELECT_STORED, { userIds })

const UPSERT = statement({ takes: { rows: typed<StoredPassword[]>('jsonb') } })`
  INSERT INTO "OldPassword" ("tenantId", "userId", "hash", "place")
  SELECT :tenant, given."userId", given."hash", given."place"
  FROM jsonb_to_recordset(:rows) AS given("userId" TEXT, "hash" TEXT, "place" INTEGER)
  ON CONFLICT ("tenantId", "userId") DO UPDATE SET "hash" = EXCLUDED."hash" WHERE "OldPassword"."usedAt" IS NULL`

/** Stores passwords of users; those that were used stay used. */
export const upsertPasswords = (db: Db, rows: StoredPassword[]): Promise<void> => db.run(UPSERT, { rows })

const buildComparedSql = (order: string) => `
    SELECT p."hash", p."userId" FROM "OldPassword" p
    WHERE p."tenantId" = :tenant AND p."hash" IS NOT NULL AND p."place" ${order} :place ORDER BY p."place" LIMIT 1`

const SELECT_COMPARED = statement({
  takes: { userId: 'text?', place: 'int' },
  returns: { hash: 'text?', hashOf: 'text?', isOwn: 'boolean' },
})`
  WITH own AS (
    SELECT p."hash", p."userId" FROM "OldPassword" p
    WHERE p."tenantId" = :tenant AND p."userId" = :userId AND p."hash" IS NOT NULL
  ), later AS (${buildComparedSql('>=')}
  ), earlier AS (${buildComparedSql('<')})
  SELECT coalesce(own."hash", later."hash", earlier."hash") AS "hash",
    coalesce(own."userId", later."userId", earlier."userId") AS "hashOf", own."hash" IS NOT NULL AS "isOwn"
  FROM (SELECT 1) one LEFT JOIN own ON true LEFT JOIN later ON true LEFT JOIN earlier ON true`

/**
 * The hash of a user, or that of another one, which the address of a guess selects. The same statement for every
 * address, known or not.
 */
export const selectCompared = (
  db: Db,
  { userId, place }: { userId: string | null; place: number },
): Promise<RowOf<typeof SELECT_COMPARED> | null> => db.one(SELECT_COMPARED, { userId, place })
