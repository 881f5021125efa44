import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'
import { CORRECT_MARKS } from '../events/marks.sql.ts'
import { REFUSED_EVENT_TYPES } from '../events/types.ts'
import type { Position } from '../model/event-position.ts'

/**
 * Statements of the cleanup. Those that read all tenants require the tenant `system`. Locked rows are left
 * for the next run (SKIP LOCKED), so that any number of processes may clean up at the same time.
 */

const EXPIRED = '"expiresAt" < :before'

/** Deletes by row address: a key that lacks a column would also delete rows that are not finished. */
const buildDeleteBatchSql = (table: string, order: string, isDone: string = EXPIRED) =>
  statement({ takes: { before: 'timestamptz', limit: 'int' }, returns: { tenantId: 'text' } })`
  DELETE FROM "${table}" WHERE :tenant = 'system' AND ctid = ANY(ARRAY(
    SELECT ctid FROM "${table}" WHERE ${isDone} ORDER BY "${order}" LIMIT :limit FOR UPDATE SKIP LOCKED
  )) RETURNING "tenantId"`

/** Which rows of each table are deleted, and in which order. */
const DELETE_STATEMENTS = {
  Interaction: buildDeleteBatchSql('Interaction', 'expiresAt'),
  EnrollmentToken: buildDeleteBatchSql('EnrollmentToken', 'expiresAt'),
  ApiKey: buildDeleteBatchSql('ApiKey', 'expiresAt'),
  ApiKeySecret: buildDeleteBatchSql('ApiKeySecret', 'expiresAt'),
  ClientSecret: buildDeleteBatchSql('ClientSecret', 'expiresAt'),
  IdempotencyKey: buildDeleteBatchSql('IdempotencyKey', 'expiresAt'),
  // An anonymous request creates such a client, by the URL of its document or by open registration. A client with
  // grants or consents is in use.
  Client: buildDeleteBatchSql(
    'Client',
    'documentFreshUntil',
    `"registeredBy" IN ('document', 'open-registration') AND "documentFreshUntil" < :before
     AND NOT EXISTS (SELECT FROM "Grant" g WHERE g."tenantId" = "Client"."tenantId" AND g."clientId" = "Client"."id")
     AND NOT EXISTS (SELECT FROM "Consent" k WHERE k."tenantId" = "Client"."tenantId" AND k."clientId" = "Client"."id")`,
  ),
  PushedRequest: buildDeleteBatchSql('PushedRequest', 'expiresAt'),
  DeviceCode: buildDeleteBatchSql('DeviceCode', 'expiresAt'),
  UsedProof: buildDeleteBatchSql('UsedProof', 'expiresAt'),
  Invitation: buildDeleteBatchSql('Invitation', 'expiresAt'),
  RegistrationToken: buildDeleteBatchSql('RegistrationToken', 'expiresAt'),
  BulkJob: buildDeleteBatchSql('BulkJob', 'createdAt', '"finishedAt" < :before'),
  WebhookDelivery: buildDeleteBatchSql('WebhookDelivery', 'finishedAt', '"finishedAt" < :before'),
  SignalToken: buildDeleteBatchSql('SignalToken', 'expiresAt'),
  SignalSubject: buildDeleteBatchSql('SignalSubject', 'expiresAt'),
  FormerAddress: buildDeleteBatchSql('FormerAddress', 'expiresAt'),
  SigningKey: buildDeleteBatchSql('SigningKey', 'expiresAt'),
  Grant: buildDeleteBatchSql('Grant', 'expiresAt'),
  // The end of a session that is not marked as ended has not been recorded yet.
  Session: buildDeleteBatchSql('Session', 'expiresAt', `${EXPIRED} AND "endedAt" IS NOT NULL`),
  AddressChange: buildDeleteBatchSql('AddressChange', 'expiresAt'),
  // The counters outlive codes: those of failures count for a day.
  Passcode: buildDeleteBatchSql(
    'Passcode',
    'failureWindowAt',
    `"failureWindowAt" < :before AND "sendWindowAt" < :before AND ${EXPIRED}`,
  ),
  KnownDevice: buildDeleteBatchSql('KnownDevice', 'provenAt', '"provenAt" < :before'),
  DailyCount: buildDeleteBatchSql('DailyCount', 'day', `"day" < (:before AT TIME ZONE 'UTC')::date`),
  // Unread, for tenants whose migration has ended or was called off. Finds the tenants with rows by the key, row by row.
  OldPassword: statement({ takes: { before: 'timestamptz', limit: 'int' }, returns: { tenantId: 'text' } })`
  WITH RECURSIVE migrating AS (
    (SELECT "tenantId" FROM "OldPassword" WHERE :tenant = 'system' ORDER BY "tenantId" LIMIT 1)
    UNION ALL
    SELECT (SELECT p."tenantId" FROM "OldPassword" p WHERE p."tenantId" > m."tenantId" ORDER BY p."tenantId" LIMIT 1)
    FROM migrating m WHERE m."tenantId" IS NOT NULL
  )
  DELETE FROM "OldPassword" WHERE ctid = ANY(ARRAY(
    SELECT p.ctid FROM migrating m JOIN "Tenant" t ON t."tenantId" = m."tenantId" JOIN "OldPassword" p ON p."tenantId" = t."tenantId"
    WHERE t."migrationEndsAt" IS NULL OR t."migrationEndsAt" <= :before
    LIMIT :limit FOR UPDATE OF p SKIP LOCKED
  )) RETURNING "tenantId"`,
  RowChange: buildDeleteBatchSql('RowChange', 'changedAt', '"changedAt" < :before'),
  // By an index of these types alone. Readers of the log continue after them without a gap.
  RefusedEvent: statement({ takes: { before: 'timestamptz', limit: 'int' }, returns: { tenantId: 'text' } })`
  WITH deleted AS (
    DELETE FROM "Event" WHERE :tenant = 'system' AND ctid = ANY(ARRAY(
      SELECT ctid FROM "Event"
      WHERE "type" IN (${REFUSED_EVENT_TYPES.map((type) => `'${type}'`).join(', ')}) AND "occurredAt" < :before
      ORDER BY "occurredAt" LIMIT :limit FOR UPDATE SKIP LOCKED
    )) RETURNING "tenantId", "era", "xid", "seq"
  ), corrected AS (${CORRECT_MARKS})
  SELECT "tenantId" FROM deleted`,
} as const
export type CleanupTable = keyof typeof DELETE_STATEMENTS

/** Deletes up to `limit` rows that were finished before `before`. Returns their number. */
export async function deleteFinishedRows(
  db: Db,
  table: CleanupTable,
  before: Date,
  limit: number,
): Promise<number> {
  return (await db.many(DELETE_STATEMENTS[table], { before, limit })).length
}

const SELECT_TENANTS_WITH_EXPIRED = statement({
  takes: { now: 'timestamptz', limit: 'int' },
  returns: { tenantId: 'text' },
})`
  SELECT DISTINCT "tenantId" FROM (
    SELECT "tenantId" FROM "Session" WHERE :tenant = 'system' AND "expiresAt" <= :now AND "endedAt" IS NULL
    ORDER BY "expiresAt" LIMIT :limit
  ) AS expired`

/** Tenants of the oldest expired sessions that are not marked as ended. */
export async function selectTenantsWithExpired(db: Db, now: Date, limit: number): Promise<string[]> {
  const rows = await db.many(SELECT_TENANTS_WITH_EXPIRED, { now, limit })
  return rows.map(({ tenantId }) => tenantId)
}

const SELECT_TENANTS_WITH_EVENTS = statement({
  takes: { now: 'timestamptz', limit: 'int' },
  returns: { tenantId: 'text', before: 'timestamptz' },
})`
  SELECT kept."tenantId", kept."before" FROM (
    SELECT "tenantId", :now - make_interval(days => "eventRetentionDays") AS "before" FROM "Tenant"
  ) kept
  WHERE :tenant = 'system' AND EXISTS (
    SELECT FROM "Event" e WHERE e."tenantId" = kept."tenantId" AND e."occurredAt" < kept."before"
  ) LIMIT :limit`

/** Tenants with events that are older than their setting, and the time from which events are kept. */
export const selectTenantsWithEvents = (db: Db, now: Date, limit: number) =>
  db.many(SELECT_TENANTS_WITH_EVENTS, { now, limit })

const DELETE_EVENTS = statement({
  takes: { before: 'timestamptz', limit: 'int' },
  returns: { count: 'int', era: 'int', xid: 'text', seq: 'text' },
})`
  WITH deleted AS (
    DELETE FROM "Event" WHERE "tenantId" = :tenant AND ("era", "xid", "seq") IN (
      SELECT "era", "xid", "seq" FROM "Event" WHERE "tenantId" = :tenant AND "occurredAt" < :before
      ORDER BY "era", "xid", "seq" LIMIT :limit
    ) RETURNING "era", "xid", "seq"
  )
  SELECT count(*) OVER ()::int AS "count", "era", "xid"::text AS "xid", "seq"::text AS "seq"
  FROM deleted ORDER BY deleted."era" DESC, deleted."xid" DESC, deleted."seq" DESC LIMIT 1`

/**
 * Deletes the oldest events of a tenant from before `before`. Returns their number and the position of the
 * last one.
 */
export async function deleteEvents(
  db: Db,
  before: Date,
  limit: number,
): Promise<{ count: number; last: Position | null }> {
  const row = await db.one(DELETE_EVENTS, { before, limit })
  if (!row) return { count: 0, last: null }
  return { count: row.count, last: { era: row.era, xid: BigInt(row.xid), seq: BigInt(row.seq) } }
}

const UPDATE_TRIMMED_TO = statement({ takes: { position: 'text' } })`
  UPDATE "Tenant" SET "eventsTrimmedTo" = :position WHERE "tenantId" = :tenant`

export const setEventsTrimmedTo = (db: Db, position: string): Promise<void> =>
  db.run(UPDATE_TRIMMED_TO, { position })

const CLEAR_IPS = statement({
  takes: { from: 'timestamptz', to: 'timestamptz', limit: 'int' },
  returns: { cleared: 'int' },
})`
  UPDATE "Event" SET "ip" = NULL WHERE :tenant = 'system' AND ("tenantId", "era", "xid", "seq") IN (
    SELECT "tenantId", "era", "xid", "seq" FROM "Event"
    WHERE "occurredAt" >= :from AND "occurredAt" < :to AND "ip" IS NOT NULL
    ORDER BY "occurredAt" LIMIT :limit FOR UPDATE SKIP LOCKED
  ) RETURNING 1 AS "cleared"`

/** Clears the IP address of up to `limit` events between two times. Returns the number of changed rows. */
export async function clearEventIps(
  db: Db,
  between: { from: Date; to: Date },
  limit: number,
): Promise<number> {
  return (await db.many(CLEAR_IPS, { ...between, limit })).length
}
