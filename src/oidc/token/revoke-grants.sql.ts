import type { Sql } from '../../db.ts'
import { insertEventsSql } from '../../events.sql.ts'

/** What the log is told of a grant that is revoked, and of a session that ends with it. */
export type RevocationEvents = { revoked: object; ended: object }

/** A statement that revokes the grants `g` of `matching`, ends the sessions that were handed out with them, and tells. */
const revokingSql = (matching: string): string => `
  WITH revoked AS (
    UPDATE "Grant" g SET "revokedAt" = $2::timestamptz ${matching} AND g."tenantId" = $1 AND g."revokedAt" IS NULL
    RETURNING g."id", g."userId", g."sessionId", g."clientId"
  ), told AS (${insertEventsSql('$3', {
    from: 'revoked',
    columns: {
      userId: 'revoked."userId"',
      sessionId: 'revoked."sessionId"',
      subjectIds: 'ARRAY[revoked."id", revoked."clientId"]',
    },
  })}), ended AS (
    UPDATE "Session" s SET "endedAt" = $2::timestamptz, "updatedAt" = $2::timestamptz, "endReason" = 'revoked'
    FROM revoked WHERE s."tenantId" = $1 AND s."grantId" = revoked."id" AND s."endedAt" IS NULL
    RETURNING s."id", s."userId", s."clientId"
  ), toldEnds AS (${insertEventsSql('$4', {
    from: 'ended',
    columns: {
      userId: 'ended."userId"',
      sessionId: 'ended."id"',
      subjectIds: 'ARRAY[ended."clientId"]',
    },
  })})
  SELECT "id" FROM revoked`

const revoke = async (
  sql: Sql,
  statement: string,
  tenant: string,
  { revoked, ended }: RevocationEvents,
  now: Date,
  matching: (string | string[] | Buffer | null)[],
): Promise<boolean> => {
  const told = [JSON.stringify([revoked]), JSON.stringify([ended])]
  return (await sql(statement, [tenant, now, ...told, ...matching])).length > 0
}

const REVOKE_REPLAYED = revokingSql(`FROM "AuthorizationCode" c
    WHERE c."tenantId" = $1 AND c."codeHash" = $5::bytea AND c."usedAt" IS NOT NULL AND g."id" = c."grantId"`)

/** Revokes the grant of a code that was used before (RFC 6749, section 4.1.2). True when there was one to revoke. */
export const revokeReplayed = (
  sql: Sql,
  tenant: string,
  codeHash: Buffer,
  events: RevocationEvents,
  now: Date,
): Promise<boolean> => revoke(sql, REVOKE_REPLAYED, tenant, events, now, [codeHash])

const REVOKE_GRANTS_OF_SECRET = revokingSql(`
    FROM "Client" c WHERE c."tenantId" = $1 AND c."id" = $5 AND c."appType" = ANY($6::text[]) AND g."clientId" = c."id"`)

/** Revokes all grants of a client that is of one of these app types as yet. True when there were some. */
export const revokeGrantsOf = (
  sql: Sql,
  tenant: string,
  { clientId, appTypes }: { clientId: string; appTypes: string[] },
  events: RevocationEvents,
  now: Date,
): Promise<boolean> => revoke(sql, REVOKE_GRANTS_OF_SECRET, tenant, events, now, [clientId, appTypes])

const REVOKE_GRANT = revokingSql(`
    WHERE g."id" = $5 AND g."clientId" = $6 AND ($7::bytea IS NULL OR g."secretHash" = $7::bytea)`)

/** Revokes a grant of a client; of a refresh token, only with its secret's hash. True when there was one to revoke. */
export const revokeGrant = (
  sql: Sql,
  tenant: string,
  grant: { id: string; clientId: string; secretHash: Buffer | null },
  events: RevocationEvents,
  now: Date,
): Promise<boolean> =>
  revoke(sql, REVOKE_GRANT, tenant, events, now, [grant.id, grant.clientId, grant.secretHash])
