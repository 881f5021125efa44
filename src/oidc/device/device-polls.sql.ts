import { buildHeldRolesSql } from '../../access/held-roles.sql.ts'
import type { Db } from '../../database/handle.ts'
import { checkFoundRow } from '../../database/key-lookup.ts'
import { statement, typed } from '../../database/statement.ts'
import { buildClaimsUserSql, CLAIMS_PARAMETERS, type ClaimsReading } from '../token/granted-user.sql.ts'
import {
  buildGrantAccessSql,
  buildGrantApisSql,
  buildTokenOrganizationSql,
  GRANT_ACCESS_PARAMETERS,
  type GrantTerms,
  NEW_GRANT_CTES,
  NEW_GRANT_PARAMETERS,
  NEW_GRANT_RETURNS,
  type NewGrant,
} from '../token/new-grant.sql.ts'

/** The result of a poll: the state of the code before it, and the grant if this poll redeemed the code. */
export type DevicePoll = {
  status: 'pending' | 'approved' | 'denied' | 'used'
  isExpired: boolean
  /** The poll came before the interval had passed, which increases the interval. */
  isEarly: boolean
  grant: NewGrant | null
}

// Intervals are measured by the clock of the database, which all processes share. A poll that waited for
// another one is compared with its result. The rows of the user and the session are locked before the code,
// as in token/authorization-codes.sql.ts.
const POLL = statement({
  takes: {
    ...NEW_GRANT_PARAMETERS,
    codeHash: 'bytea',
    clientId: 'text',
    ...CLAIMS_PARAMETERS,
    ...GRANT_ACCESS_PARAMETERS,
    leewaySeconds: 'float8',
    slowDownSeconds: 'int',
  },
  // The columns from grantId on are null unless this poll redeemed the code.
  returns: {
    status: typed<DevicePoll['status']>('text'),
    isExpired: 'boolean',
    isEarly: 'boolean',
    ...NEW_GRANT_RETURNS,
    grantId: 'text?',
  },
  hasInserted: ([row]) => (row?.grantId ?? null) !== null,
})`
  WITH device_code AS MATERIALIZED (
    SELECT "status", "intervalSeconds", "expiresAt" <= :now AS "isExpired" FROM "DeviceCode"
    WHERE "tenantId" = :tenant AND "codeHash" = :codeHash AND ${checkFoundRow('"clientId" = :clientId')}
  ), polled AS (
    UPDATE "DeviceCode" d SET "lastPolledAt" = now(), "intervalSeconds" = d."intervalSeconds" + CASE
      WHEN d."lastPolledAt" + make_interval(secs => d."intervalSeconds" - :leewaySeconds) > now() THEN :slowDownSeconds ELSE 0 END
    WHERE d."tenantId" = :tenant AND d."codeHash" = :codeHash AND ${checkFoundRow('d."clientId" = :clientId')} AND d."status" = 'pending'
      AND d."expiresAt" > :now
    RETURNING d."intervalSeconds"
  ), valid_code AS MATERIALIZED (
    SELECT d."grantId", d."clientId", d."userId", d."sessionId", d."scopes", d."resources", d."defaultAudience", NULL::jsonb AS "claims",
      ${buildGrantAccessSql('d', 'd."organizationId"')} AS "access", NULL::text AS "nonce", ${buildTokenOrganizationSql('u."id"', 'd."organizationId"', { authenticatedAt: 'd."authenticatedAt"', amr: 'd."amr"' })} AS "organization", d."authenticatedAt", d."amr", 'offline_access' = ANY (d."scopes") AS "offline", ${buildHeldRolesSql('u')} AS "roles",
      ${buildClaimsUserSql(':withClaims', buildGrantApisSql('d'), 'd."organizationId"')} AS "claimsUser"
    FROM "DeviceCode" d
    JOIN "User" u ON u."tenantId" = :tenant AND u."id" = d."userId"
    JOIN "Session" s ON s."tenantId" = :tenant AND s."id" = d."sessionId"
    WHERE d."tenantId" = :tenant AND d."codeHash" = :codeHash AND ${checkFoundRow('d."clientId" = :clientId')} AND d."status" = 'approved'
      AND d."expiresAt" > :now
      AND NOT u."locked" AND s."endedAt" IS NULL AND s."expiresAt" > :now
    FOR SHARE OF u, s
  ), redeemed_code AS (
    UPDATE "DeviceCode" d SET "status" = 'used' FROM valid_code
    WHERE d."tenantId" = :tenant AND d."codeHash" = :codeHash AND d."status" = 'approved'
      AND (d."organizationId" IS NULL OR (valid_code."organization" IS NOT NULL AND valid_code."organization"->>'unmet' IS NULL))
    RETURNING d."grantId"
  ), ${NEW_GRANT_CTES}
  SELECT a."status", a."isExpired", COALESCE(polled."intervalSeconds" > a."intervalSeconds", false) AS "isEarly", redemption.*
  FROM device_code a LEFT JOIN polled ON true
  LEFT JOIN (SELECT v.* FROM valid_code v JOIN new_grant ON new_grant."id" = v."grantId") redemption ON true`

/** How early a poll may come, and by how much the interval grows when it comes earlier; seconds. */
export type PollTolerance = { leewaySeconds: number; slowDownSeconds: number }

type PresentedDeviceCode = {
  codeHash: Buffer
  clientId: string
  reading: ClaimsReading
  /** The APIs that the request selects, and the one of tokens for none. */
  apis: string[] | null
  defaultApi: string | null
}

/**
 * Reads the status of a client's device code, and redeems it once it was approved: one statement. Null when
 * it does not exist. `reading` names what is read of the user too.
 */
export async function pollDeviceCode(
  db: Db,
  { reading, ...presented }: PresentedDeviceCode,
  { leewaySeconds, slowDownSeconds }: PollTolerance,
  terms: GrantTerms,
  event: object,
): Promise<DevicePoll | null> {
  const row = await db.one(POLL, {
    ...terms,
    events: [event],
    ...presented,
    ...reading,
    leewaySeconds,
    slowDownSeconds,
  })
  if (!row) return null
  const { status, isExpired, isEarly, grantId, ...made } = row
  return { status, isExpired, isEarly, grant: grantId === null ? null : { grantId, ...made } }
}
