import type { Sql } from './db.ts'
import type { Position } from './events.ts'

/**
 * Statements of the clean-up. Those that go through all tenants take tenant `system` as `$1`, which alone may see
 * them all. Rows that somebody holds are left for the next run (SKIP LOCKED), so that any number of processes may
 * clean up at once.
 */

/** `key` has the columns of the primary key besides the tenant. */
const deleteBatch = (table: string, key: string | string[], isDone: string, order: string): string => {
  const columns = ['tenantId', key].flat().map((name) => `"${name}"`)
  return `
  DELETE FROM "${table}" WHERE $1 = 'system' AND (${columns.join(', ')}) IN (
    SELECT ${columns.join(', ')} FROM "${table}" WHERE ${isDone}
    ORDER BY "${order}" LIMIT $3::int FOR UPDATE SKIP LOCKED
  ) RETURNING 1`
}

const EXPIRED = '"expiresAt" < $2::timestamptz'

/** What each table's rows are removed by; `$2` is the time before which they count as done. */
const DELETES = {
  Interaction: deleteBatch('Interaction', 'handleHash', EXPIRED, 'expiresAt'),
  AuthorizationCode: deleteBatch('AuthorizationCode', 'codeHash', EXPIRED, 'expiresAt'),
  EnrollmentToken: deleteBatch('EnrollmentToken', 'tokenHash', EXPIRED, 'expiresAt'),
  ClientSecret: deleteBatch('ClientSecret', 'secretHash', EXPIRED, 'expiresAt'),
  IdempotencyKey: deleteBatch('IdempotencyKey', 'keyHash', EXPIRED, 'expiresAt'),
  // Anybody can make such a client, by the URL of a document. One that people use has what they gave it.
  Client: deleteBatch(
    'Client',
    'id',
    `"registeredBy" = 'document' AND "documentFreshUntil" < $2::timestamptz
     AND NOT EXISTS (SELECT FROM "Grant" g WHERE g."tenantId" = "Client"."tenantId" AND g."clientId" = "Client"."id")
     AND NOT EXISTS (SELECT FROM "Consent" k WHERE k."tenantId" = "Client"."tenantId" AND k."clientId" = "Client"."id")`,
    'documentFreshUntil',
  ),
  PushedRequest: deleteBatch('PushedRequest', 'requestHash', EXPIRED, 'expiresAt'),
  DeviceCode: deleteBatch('DeviceCode', 'codeHash', EXPIRED, 'expiresAt'),
  UsedProof: deleteBatch('UsedProof', 'proofHash', EXPIRED, 'expiresAt'),
  RegistrationToken: deleteBatch('RegistrationToken', 'id', EXPIRED, 'expiresAt'),
  SigningKey: deleteBatch('SigningKey', 'id', EXPIRED, 'expiresAt'),
  Grant: deleteBatch('Grant', 'id', EXPIRED, 'expiresAt'),
  // One that has not been ended yet has not been told of either.
  Session: deleteBatch('Session', 'id', `${EXPIRED} AND "endedAt" IS NOT NULL`, 'expiresAt'),
  AddressChange: deleteBatch('AddressChange', ['userId', 'channel'], EXPIRED, 'expiresAt'),
  // The counters outlive codes: those of failures count for a day.
  Passcode: deleteBatch(
    'Passcode',
    'address',
    `"failureWindowAt" < $2::timestamptz AND "sendWindowAt" < $2::timestamptz AND ${EXPIRED}`,
    'failureWindowAt',
  ),
} as const
export type CleanedTable = keyof typeof DELETES

/** Removes up to `limit` rows that were done before `before`; returns how many. */
export async function deleteDone(
  sql: Sql,
  system: string,
  table: CleanedTable,
  before: Date,
  limit: number,
): Promise<number> {
  return (await sql(DELETES[table], [system, before, limit])).length
}

/** Tenants that the oldest expired sessions which have not been ended yet are of. */
export async function selectTenantsWithExpired(
  sql: Sql,
  system: string,
  now: Date,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ tenantId: string }>(
    `SELECT DISTINCT "tenantId" FROM (
       SELECT "tenantId" FROM "Session" WHERE $1 = 'system' AND "expiresAt" <= $2::timestamptz AND "endedAt" IS NULL
       ORDER BY "expiresAt" LIMIT $3::int
     ) AS expired`,
    [system, now, limit],
  )
  return rows.map(({ tenantId }) => tenantId)
}

export type ExpiredSession = { id: string; userId: string; clientId: string | null }

/** Ends sessions of a tenant that have expired. */
export const endExpired = (sql: Sql, tenant: string, now: Date, limit: number): Promise<ExpiredSession[]> =>
  sql(
    `UPDATE "Session" SET "endedAt" = $2::timestamptz, "endReason" = 'expired' WHERE "tenantId" = $1 AND "id" IN (
       SELECT "id" FROM "Session" WHERE "tenantId" = $1 AND "expiresAt" <= $2::timestamptz AND "endedAt" IS NULL
       ORDER BY "expiresAt" LIMIT $3::int FOR UPDATE SKIP LOCKED
     ) RETURNING "id", "userId", "clientId"`,
    [tenant, now, limit],
  )

/** Tenants that the oldest entries from before `before` are of. */
export async function selectTenantsWithEvents(
  sql: Sql,
  system: string,
  before: Date,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ tenantId: string }>(
    `SELECT DISTINCT "tenantId" FROM (
       SELECT "tenantId" FROM "Event" WHERE $1 = 'system' AND "occurredAt" < $2::timestamptz
       ORDER BY "occurredAt" LIMIT $3::int
     ) AS old`,
    [system, before, limit],
  )
  return rows.map(({ tenantId }) => tenantId)
}

/** Removes the oldest entries of a tenant from before `before`; returns how many, and the position of the last. */
export async function deleteEvents(
  sql: Sql,
  tenant: string,
  before: Date,
  limit: number,
): Promise<{ count: number; last: Position | null }> {
  const [row] = await sql<{ count: number; era: number; xid: string; seq: string }>(
    `WITH removed AS (
       DELETE FROM "Event" WHERE "tenantId" = $1 AND ("era", "xid", "seq") IN (
         SELECT "era", "xid", "seq" FROM "Event" WHERE "tenantId" = $1 AND "occurredAt" < $2::timestamptz
         ORDER BY "era", "xid", "seq" LIMIT $3::int
       ) RETURNING "era", "xid", "seq"
     )
     SELECT count(*) OVER ()::int AS "count", "era", "xid"::text AS "xid", "seq"::text AS "seq"
     FROM removed ORDER BY removed."era" DESC, removed."xid" DESC, removed."seq" DESC LIMIT 1`,
    [tenant, before, limit],
  )
  if (!row) return { count: 0, last: null }
  return { count: row.count, last: { era: row.era, xid: BigInt(row.xid), seq: BigInt(row.seq) } }
}

export async function updateTrimmedTo(sql: Sql, tenant: string, position: string): Promise<void> {
  await sql(`UPDATE "Tenant" SET "eventsTrimmedTo" = $2 WHERE "tenantId" = $1`, [tenant, position])
}

/** Takes the ip out of up to `limit` entries between two times; returns how many had one. */
export async function clearIps(
  sql: Sql,
  system: string,
  between: { from: Date; to: Date },
  limit: number,
): Promise<number> {
  const rows = await sql(
    `UPDATE "Event" SET "ip" = NULL WHERE $1 = 'system' AND ("tenantId", "era", "xid", "seq") IN (
       SELECT "tenantId", "era", "xid", "seq" FROM "Event"
       WHERE "occurredAt" >= $2::timestamptz AND "occurredAt" < $3::timestamptz AND "ip" IS NOT NULL
       ORDER BY "occurredAt" LIMIT $4::int FOR UPDATE SKIP LOCKED
     ) RETURNING 1`,
    [system, between.from, between.to, limit],
  )
  return rows.length
}
