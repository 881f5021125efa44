import { buildUserRolesSql } from '../access/effective-access.sql.ts'
import { buildHeldRolesSql, HELD_ROLES } from '../access/held-roles.sql.ts'
import type { TokenBasis } from '../access/token-status.sql.ts'
import type { Db } from '../database/handle.ts'
import { checkFoundRow } from '../database/key-lookup.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import type { SessionProof } from '../sessions/proofs.ts'

const SELECT_STEP_UP = statement({
  takes: { userId: 'text', sessionId: 'text?', grantId: 'text?', since: 'timestamptz', now: 'timestamptz' },
  returns: {
    roles: HELD_ROLES,
    isRecent: 'boolean',
    grantAmr: 'text[]?',
    proofs: typed<SessionProof[] | null>('jsonb?'),
  },
})`
  SELECT ${buildHeldRolesSql('u')} AS "roles", COALESCE(LEAST(s."authenticatedAt", g."authenticatedAt") >= :since, false) AS "isRecent",
    g."amr" AS "grantAmr", CASE WHEN :grantId::text IS NULL THEN s."proofs" END AS "proofs"
  FROM "User" u LEFT JOIN "Session" s ON s."tenantId" = :tenant AND s."id" = :sessionId AND ${checkFoundRow('s."userId" = u."id"')}
    AND s."endedAt" IS NULL AND s."expiresAt" > :now
  LEFT JOIN "Grant" g ON g."tenantId" = :tenant AND g."id" = :grantId AND s."id" IS NOT NULL
  WHERE u."tenantId" = :tenant AND u."id" = :userId`

/**
 * A user's roles, whether the session is active and was authenticated at or after `since`, and how: the methods
 * of the grant (RFC 8176), or the proofs of the session for a caller without a grant; null without such a user.
 * The authentication is that of the grant: when a user signs in again in the session, tokens that were issued
 * before do not become recent.
 */
export const selectStepUp = (db: Db, basis: TokenBasis, { since, now }: { since: Date; now: Date }) =>
  db.one(SELECT_STEP_UP, { ...basis, since, now })

/** Organizations that the page lists. */
const MAX_ORGANIZATIONS = 200

const SELECT_OWN_ORGANIZATIONS = statement({
  takes: { userId: 'text' },
  returns: {
    id: 'text',
    name: 'text',
    isAdministrator: 'boolean',
    roles: 'text[]',
    since: 'timestamptz',
  },
})`
  SELECT o."id", o."name", n."isAdministrator", n."createdAt" AS "since", ARRAY(
      SELECT r."name" FROM "AppRole" r WHERE r."tenantId" = :tenant AND r."id" IN (
        SELECT x."roleId" FROM (${buildUserRolesSql(':userId', 'o."id"')}) x WHERE x."isInOrganization"
      ) ORDER BY r."name"
    ) AS "roles"
  FROM "Membership" n
  JOIN "Organization" o ON o."tenantId" = :tenant AND o."id" = n."organizationId"
  WHERE n."tenantId" = :tenant AND n."userId" = :userId
  ORDER BY o."name", o."id" LIMIT ${MAX_ORGANIZATIONS}`

/** An organization of the user, with the names of the roles that are held in it alone. */
export type OwnOrganization = RowOf<typeof SELECT_OWN_ORGANIZATIONS>

/** The organizations of a user by name: one statement. */
export const selectOwnOrganizations = (db: Db, userId: string): Promise<OwnOrganization[]> =>
  db.many(SELECT_OWN_ORGANIZATIONS, { userId })
