import type { Sql } from '../../database/db.ts'
import { type RowOf, statement, typed } from '../../database/statement.ts'
import { buildInsertEventsSql } from '../../events/log.sql.ts'
import type { SigningAlgorithm } from '../../keys/signing-algorithms.ts'

/** A logout token to send, with its recipient. */
export type LogoutDelivery = RowOf<typeof CLAIM_DELIVERIES>

// Takes the oldest due deliveries, limited per client and per tenant, so that thousands for one client leave
// room for others. SKIP LOCKED passes over rows that another process is claiming; the second condition on
// nextAt excludes those that it has just claimed.
const CLAIM_DELIVERIES = statement({
  takes: {
    limit: 'int',
    perClient: 'int',
    perTenant: 'int',
    exceptClients: 'text[]',
    exceptTenants: 'text[]',
    leaseSeconds: 'float8',
  },
  returns: {
    tenantId: 'text',
    id: 'text',
    clientId: 'text',
    userId: 'text',
    sessionId: 'text',
    /** Attempts, including this one. */
    attempts: 'int',
    expiresAt: 'timestamptz',
    /** Null when the client has no backchannelLogoutUrl any more. */
    url: 'text?',
    alg: typed<SigningAlgorithm | null>('text?'),
  },
})`
  WITH oldest AS (
    SELECT "tenantId", "id", "clientId", "nextAt" FROM "LogoutDelivery"
    WHERE :tenant = 'system' AND "nextAt" <= now() AND "clientId" <> ALL(:exceptClients) AND "tenantId" <> ALL(:exceptTenants)
    ORDER BY "nextAt" LIMIT 500
  ), client_ranked AS (
    SELECT o.*, row_number() OVER (PARTITION BY o."tenantId", o."clientId" ORDER BY o."nextAt") AS "clientRank" FROM oldest o
  ), ranked AS (
    SELECT p.*, row_number() OVER (PARTITION BY p."tenantId" ORDER BY p."nextAt") AS "rank" FROM client_ranked p WHERE p."clientRank" <= :perClient
  ), picked AS (
    SELECT d."tenantId", d."id" FROM "LogoutDelivery" d
    JOIN ranked r ON r."tenantId" = d."tenantId" AND r."id" = d."id" AND r."rank" <= :perTenant
    WHERE d."nextAt" <= now() ORDER BY d."nextAt" LIMIT :limit FOR UPDATE OF d SKIP LOCKED
  )
  UPDATE "LogoutDelivery" d SET "nextAt" = now() + make_interval(secs => :leaseSeconds), "attempts" = d."attempts" + 1
  FROM picked p, "Client" c
  WHERE d."tenantId" = p."tenantId" AND d."id" = p."id" AND c."tenantId" = d."tenantId" AND c."id" = d."clientId"
  RETURNING d."tenantId", d."id", d."clientId", d."userId", d."sessionId", d."attempts", d."expiresAt",
    c."backchannelLogoutUrl" AS "url", c."idTokenSigningAlg" AS "alg"`

export type DeliveryClaim = {
  /** Maximum number of deliveries: in total, per client and per tenant. */
  limit: number
  perClient: number
  perTenant: number
  /** Clients and tenants to leave out. */
  exceptClients: string[]
  exceptTenants: string[]
  /** How long no other process claims the deliveries. */
  leaseSeconds: number
}

/**
 * Claims due deliveries of all tenants. Other processes claim them again after the lease, in case this one
 * dies.
 */
export const claimLogoutDeliveries = (
  sql: Sql,
  system: string,
  claim: DeliveryClaim,
): Promise<LogoutDelivery[]> => CLAIM_DELIVERIES.all(sql, { tenant: system, ...claim })

/** Records the events of the delivery in the CTE `from`. */
const recordSql = (events: string, from: string): string =>
  buildInsertEventsSql(events, {
    from,
    columns: {
      userId: `${from}."userId"`,
      sessionId: `${from}."sessionId"`,
      subjectIds: `ARRAY[${from}."clientId"]`,
    },
  })

const FINISH_DELIVERY = statement({
  takes: { id: 'text', events: 'jsonb' },
  returns: { finished: 'int' },
})`
  WITH finished AS (
    DELETE FROM "LogoutDelivery" WHERE "tenantId" = :tenant AND "id" = :id RETURNING "userId", "sessionId", "clientId"
  ), event_log AS (${recordSql(':events', 'finished')})
  SELECT 1 AS "finished" FROM finished`

/**
 * Deletes a delivery and records the events, in one statement. False, without events, when another process
 * deleted it first.
 */
export async function deleteDelivery(
  sql: Sql,
  tenant: string,
  id: string,
  events: object[],
): Promise<boolean> {
  return (await FINISH_DELIVERY.first(sql, { tenant, id, events })) !== null
}

// A process that has claimed the delivery since has increased "attempts".
const POSTPONE_DELIVERY = statement({
  takes: { id: 'text', attempts: 'int', pauseSeconds: 'float8', events: 'jsonb' },
  returns: { postponed: 'int' },
})`
  WITH postponed AS (
    UPDATE "LogoutDelivery" SET "nextAt" = now() + make_interval(secs => :pauseSeconds)
    WHERE "tenantId" = :tenant AND "id" = :id AND "attempts" = :attempts RETURNING "userId", "sessionId", "clientId"
  ), event_log AS (${recordSql(':events', 'postponed')})
  SELECT 1 AS "postponed" FROM postponed`

/**
 * Postpones a claimed delivery by `pauseSeconds` and records the events, in one statement. False, without
 * events, when another process has claimed it since.
 */
export async function postponeDelivery(
  sql: Sql,
  tenant: string,
  { id, attempts }: Pick<LogoutDelivery, 'id' | 'attempts'>,
  pauseSeconds: number,
  events: object[],
): Promise<boolean> {
  return (await POSTPONE_DELIVERY.first(sql, { tenant, id, attempts, pauseSeconds, events })) !== null
}
