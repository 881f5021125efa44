import type { HeldRoles } from '../core/scopes.ts'
import type { Db } from '../database/handle.ts'
import { findByKey } from '../database/key-lookup.ts'
import { statement, typed } from '../database/statement.ts'
import { buildHeldRolesSql, HELD_ROLES } from './held-roles.sql.ts'
import { buildUnmetRuleSql } from './organization-policy.sql.ts'

/** The rows that a user's access token depends on. */
export type TokenBasis = {
  userId: string
  grantId: string | null
  sessionId: string | null
  /** The organization of which the user must be a member. */
  organizationId?: string | null
  /** The address of the caller, if it is the device of the user. */
  deviceIp?: string | null
}

/**
 * The condition that the basis of an access token is active, for a statement that joins "User" u and
 * left-joins "Grant" g and "Session" s. Tokens of an offline grant depend on the grant only, others also on
 * the session.
 */
export const ACTIVE_BASIS_CONDITION = `NOT u."locked"
  AND (g."id" IS NULL OR (g."revokedAt" IS NULL AND g."expiresAt" > now()))
  AND (COALESCE(g."offline", false) OR (s."endedAt" IS NULL AND s."expiresAt" > now()))`

/**
 * The condition that the user `u` is a member of an organization, if the token has one, and that the sign-in of the grant `g`
 * satisfies what it demands.
 */
export const buildMemberCondition = (
  organizationId: string,
  { tenant = ':tenant', deviceIp }: { tenant?: string; deviceIp: string },
): string => `(${organizationId} IS NULL OR EXISTS (
    SELECT FROM "Membership" m JOIN "Organization" o ON o."tenantId" = ${tenant} AND o."id" = m."organizationId"
    WHERE m."tenantId" = ${tenant} AND m."organizationId" = ${organizationId} AND m."userId" = u."id"
      AND ${buildUnmetRuleSql({ authenticatedAt: 'g."authenticatedAt"', amr: 'g."amr"', deviceIp })} IS NULL
  ))`

/** Whether the user `u` is an administrator of an organization; of none without an id. */
export const buildAdministratorSql = (
  organizationId: string,
  tenant = ':tenant',
): string => `(${organizationId} IS NOT NULL AND EXISTS (
    SELECT FROM "Membership" m WHERE m."tenantId" = ${tenant} AND m."organizationId" = ${organizationId} AND m."userId" = u."id"
      AND m."isAdministrator"
  ))`

/** The roles of a token's user, and whether the user is an administrator of the organization of the token. */
export type ActiveUser = { roles: HeldRoles; isAdministrator: boolean }

const SELECT_ACTIVE_USERS = statement({
  shared: true,
  takes: {
    userIds: 'text[]',
    grantIds: typed<(string | null)[]>('text[]'),
    sessionIds: typed<(string | null)[]>('text[]'),
    organizationIds: typed<(string | null)[]>('text[]'),
    deviceIps: typed<(string | null)[]>('text[]'),
  },
  returns: { index: 'int', roles: HELD_ROLES, isAdministrator: 'boolean' },
})`
  SELECT t."index"::int AS "index", ${buildHeldRolesSql('u')} AS "roles", ${buildAdministratorSql('t."organizationId"')} AS "isAdministrator"
  FROM unnest(:userIds, :grantIds, :sessionIds, :organizationIds, :deviceIps) WITH ORDINALITY
    AS t("userId", "grantId", "sessionId", "organizationId", "deviceIp", "index")
  JOIN LATERAL ${findByKey('User', { id: 't."userId"' })} u ON true
  LEFT JOIN LATERAL ${findByKey('Grant', { id: 't."grantId"' })} g ON g."userId" = u."id"
  LEFT JOIN LATERAL ${findByKey('Session', { id: 't."sessionId"' })} s ON s."userId" = u."id"
  WHERE (t."grantId" IS NULL) = (g."id" IS NULL) AND ${ACTIVE_BASIS_CONDITION}
    AND ${buildMemberCondition('t."organizationId"', { deviceIp: 't."deviceIp"' })}`

/**
 * Returns the user of each token, in the order of `bases`; null for an inactive token. One statement.
 */
export async function selectActiveUsers(db: Db, bases: TokenBasis[]): Promise<(ActiveUser | null)[]> {
  const rows = await db.many(SELECT_ACTIVE_USERS, {
    userIds: bases.map((basis) => basis.userId),
    grantIds: bases.map((basis) => basis.grantId),
    sessionIds: bases.map((basis) => basis.sessionId),
    organizationIds: bases.map((basis) => basis.organizationId ?? null),
    deviceIps: bases.map((basis) => basis.deviceIp ?? null),
  })
  const byIndex = new Map(rows.map(({ index, ...user }) => [index - 1, user]))
  return bases.map((_, index) => byIndex.get(index) ?? null)
}
