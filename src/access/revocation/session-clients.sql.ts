/**
 * CTEs that maintain the clients to notify of the end of a session (OpenID Connect Back-Channel Logout 1.0).
 * They are parts of the statements that redeem a code and end a session: atomic with these, and without
 * another round trip.
 */

/**
 * Inserts the clients that received an ID token of a session. `from` names rows with "sessionId" and
 * "clientId" of sessions that this statement has locked. Only clients with a backchannelLogoutUrl are
 * inserted; others cost one index look-up.
 */
export const buildInsertSessionClientsSql = (from: string): string => `
  INSERT INTO "SessionClient" ("tenantId", "sessionId", "clientId")
  SELECT :tenant, f."sessionId", f."clientId" FROM ${from} f
  JOIN "Client" c ON c."tenantId" = :tenant AND c."id" = f."clientId" AND c."backchannelLogoutUrl" IS NOT NULL
  ON CONFLICT DO NOTHING`

/** How long delivery of a logout token is attempted. */
const DELIVERY_PERIOD = "interval '1 day'"

/**
 * Queues a logout token for each client of the sessions `from`, which names rows with "id"; with `clientId`,
 * for that client only. The statement must begin after the sessions, or their user, were locked, so that it
 * sees a code that was being redeemed.
 */
export const buildQueueLogoutsSql = (from: string, clientId: string | null = null): string => `
  INSERT INTO "LogoutDelivery" ("tenantId", "id", "clientId", "userId", "sessionId", "expiresAt")
  SELECT :tenant, gen_random_uuid()::text, k."clientId", s."userId", s."id", now() + ${DELIVERY_PERIOD}
  FROM ${from} f
  JOIN "SessionClient" k ON k."tenantId" = :tenant AND k."sessionId" = f."id"${clientId ? ` AND k."clientId" = ${clientId}` : ''}
  JOIN "Session" s ON s."tenantId" = :tenant AND s."id" = f."id"
  JOIN "Client" c ON c."tenantId" = :tenant AND c."id" = k."clientId" AND c."backchannelLogoutUrl" IS NOT NULL`
