/**
 * Parts of statements that keep track of who has to be told of a session's end (OpenID Connect Back-Channel Logout 1.0).
 * They stand inside another statement's WITH, so that neither a code's redemption nor a session's end needs a round
 * trip more, and neither commits without the other. `$1` is the tenant.
 */

/**
 * Remembers that clients got an ID token of a session. `from` names rows with "sessionId" and "clientId", of a session
 * that this statement holds. Only clients that want to be told are written: an exchange of any other costs one look at
 * an index, and no write.
 */
export const rememberClientsSql = (from: string): string => `
  INSERT INTO "SessionClient" ("tenantId", "sessionId", "clientId")
  SELECT $1, f."sessionId", f."clientId" FROM ${from} f
  JOIN "Client" c ON c."tenantId" = $1 AND c."id" = f."clientId" AND c."backchannelLogoutUrl" IS NOT NULL
  ON CONFLICT DO NOTHING`

/** For how long a client is tried that does not take its logout token. */
const TRIED_FOR = "interval '1 day'"

/**
 * Queues a logout token for each client of the sessions `from`, which names rows with "id"; with `clientId`, for that one
 * alone. The statement must have begun after the sessions, or their user, were locked: a code that was being redeemed
 * meanwhile is seen only then.
 */
export const queueLogoutsSql = (from: string, clientId: string | null = null): string => `
  INSERT INTO "LogoutDelivery" ("tenantId", "id", "clientId", "userId", "sessionId", "expiresAt")
  SELECT $1, gen_random_uuid()::text, k."clientId", s."userId", s."id", now() + ${TRIED_FOR}
  FROM ${from} f
  JOIN "SessionClient" k ON k."tenantId" = $1 AND k."sessionId" = f."id"${clientId ? ` AND k."clientId" = ${clientId}` : ''}
  JOIN "Session" s ON s."tenantId" = $1 AND s."id" = f."id"
  JOIN "Client" c ON c."tenantId" = $1 AND c."id" = k."clientId" AND c."backchannelLogoutUrl" IS NOT NULL`
