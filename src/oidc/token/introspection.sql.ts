import { buildHeldRolesSql, HELD_ROLES } from '../../access/held-roles.sql.ts'
import { buildMemberCondition } from '../../access/token-status.sql.ts'
import type { Db } from '../../database/handle.ts'
import { checkFoundRow } from '../../database/key-lookup.ts'
import { type RowOf, statement } from '../../database/statement.ts'

/** A refresh token that a client presents. */
export type PresentedRefreshToken = {
  grantId: string
  generation: number
  secretHash: Buffer
  clientId: string
}

/** The grant of an active refresh token. */
export type ActiveGrant = RowOf<typeof SELECT_ACTIVE_GRANT>

const SELECT_ACTIVE_GRANT = statement({
  shared: true,
  takes: { grantId: 'text', generation: 'int', secretHash: 'bytea', clientId: 'text', now: 'timestamptz' },
  returns: {
    userId: 'text',
    sessionId: 'text?',
    scopes: 'text[]',
    dpopJkt: 'text?',
    authenticatedAt: 'timestamptz',
    issuedAt: 'timestamptz',
    idleExpiresAt: 'timestamptz',
    roles: HELD_ROLES,
  },
})`
  SELECT g."userId", g."sessionId", g."scopes", g."dpopJkt", g."authenticatedAt", g."idleExpiresAt",
    COALESCE(g."rotatedAt", g."createdAt") AS "issuedAt", ${buildHeldRolesSql('u')} AS "roles"
  FROM "Grant" g JOIN "User" u ON u."tenantId" = :tenant AND u."id" = g."userId"
  WHERE g."tenantId" = :tenant AND g."id" = :grantId AND g."generation" = :generation
    AND g."secretHash" = :secretHash AND ${checkFoundRow('g."clientId" = :clientId')} AND g."revokedAt" IS NULL
    AND g."idleExpiresAt" > :now AND g."expiresAt" > :now AND NOT u."locked"
    AND ${buildMemberCondition('g."organizationId"', { deviceIp: 'NULL' })}`

/**
 * The grant of the client's current refresh token; null when the token is another client's, or revoked,
 * expired or rotated.
 */
export const selectActiveGrant = (
  db: Db,
  token: PresentedRefreshToken,
  now: Date,
): Promise<ActiveGrant | null> => db.one(SELECT_ACTIVE_GRANT, { ...token, now })
