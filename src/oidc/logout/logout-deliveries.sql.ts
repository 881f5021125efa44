import type { Sql } from '../../db.ts'
import { insertEventsSql } from '../../events.sql.ts'
import type { SigningAlgorithm } from '../../signing-algorithms.ts'

/** A logout token that is to be sent, and to where. */
export type LogoutDelivery = {
  tenantId: string
  id: string
  clientId: string
  userId: string
  sessionId: string
  /** Times that it was tried, with this one. */
  attempts: number
  expiresAt: Date
  /** Null when the client wants to hear of it no more. */
  url: string | null
  alg: SigningAlgorithm | null
}

// The oldest that are due, looked at by client and by tenant, so that one's thousands leave room for others'. Rows that another
// process is claiming are passed over; of those that it just claimed, the second look at nextAt tells.
const CLAIM = `
  WITH oldest AS (
    SELECT "tenantId", "id", "clientId", "nextAt" FROM "LogoutDelivery"
    WHERE $1 = 'system' AND "nextAt" <= now() AND "clientId" <> ALL($4::text[]) AND "tenantId" <> ALL($7::text[])
    ORDER BY "nextAt" LIMIT 500
  ), placed AS (
    SELECT o.*, row_number() OVER (PARTITION BY o."tenantId", o."clientId" ORDER BY o."nextAt") AS "place" FROM oldest o
  ), ranked AS (
    SELECT p.*, row_number() OVER (PARTITION BY p."tenantId" ORDER BY p."nextAt") AS "rank" FROM placed p WHERE p."place" <= $3::int
  ), picked AS (
    SELECT d."tenantId", d."id" FROM "LogoutDelivery" d
    JOIN ranked r ON r."tenantId" = d."tenantId" AND r."id" = d."id" AND r."rank" <= $6::int
    WHERE d."nextAt" <= now() ORDER BY d."nextAt" LIMIT $2::int FOR UPDATE OF d SKIP LOCKED
  )
  UPDATE "LogoutDelivery" d SET "nextAt" = now() + make_interval(secs => $5::float8), "attempts" = d."attempts" + 1
  FROM picked p, "Client" c
  WHERE d."tenantId" = p."tenantId" AND d."id" = p."id" AND c."tenantId" = d."tenantId" AND c."id" = d."clientId"
  RETURNING d."tenantId", d."id", d."clientId", d."userId", d."sessionId", d."attempts", d."expiresAt",
    c."backchannelLogoutUrl" AS "url", c."idTokenSigningAlg" AS "alg"`

export type Claim = {
  /** How many at most, how many of one client, and of one tenant. */
  limit: number
  perClient: number
  perTenant: number
  /** Those that are left out. */
  exceptClients: string[]
  exceptTenants: string[]
  /** For how long nobody else claims them. */
  leaseSeconds: number
}

/** Claims deliveries of all tenants that are due: whoever dies over one loses it to others when the lease ends. */
export const claimDeliveries = (
  sql: Sql,
  system: string,
  { limit, perClient, perTenant, exceptClients, exceptTenants, leaseSeconds }: Claim,
): Promise<LogoutDelivery[]> =>
  sql(CLAIM, [system, limit, perClient, exceptClients, leaseSeconds, perTenant, exceptTenants])

/** Tells of the delivery in `from`. */
const tellSql = (events: string, from: string): string =>
  insertEventsSql(events, {
    from,
    columns: {
      userId: `${from}."userId"`,
      sessionId: `${from}."sessionId"`,
      subjectIds: `ARRAY[${from}."clientId"]`,
    },
  })

const FINISH = `
  WITH done AS (
    DELETE FROM "LogoutDelivery" WHERE "tenantId" = $1 AND "id" = $2 RETURNING "userId", "sessionId", "clientId"
  ), told AS (${tellSql('$3', 'done')})
  SELECT 1 FROM done`

/** Removes a delivery with the events, in one statement. False, and nothing is told, when another process did before. */
export async function finishDelivery(
  sql: Sql,
  tenant: string,
  id: string,
  events: object[],
): Promise<boolean> {
  return (await sql(FINISH, [tenant, id, JSON.stringify(events)])).length > 0
}

// Whoever claimed it since knows better.
const POSTPONE = `
  WITH later AS (
    UPDATE "LogoutDelivery" SET "nextAt" = now() + make_interval(secs => $4::float8)
    WHERE "tenantId" = $1 AND "id" = $2 AND "attempts" = $3::int RETURNING "userId", "sessionId", "clientId"
  ), told AS (${tellSql('$5', 'later')})
  SELECT 1 FROM later`

/**
 * Puts a claimed delivery off by `pauseSeconds` with the events, in one statement. False, and nothing is told, when another
 * process has claimed it since.
 */
export async function postponeDelivery(
  sql: Sql,
  tenant: string,
  { id, attempts }: Pick<LogoutDelivery, 'id' | 'attempts'>,
  pauseSeconds: number,
  events: object[],
): Promise<boolean> {
  return (await sql(POSTPONE, [tenant, id, attempts, pauseSeconds, JSON.stringify(events)])).length > 0
}
