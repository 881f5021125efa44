import type { HeldRoles } from '../core/scopes.ts'
import type { Db } from '../database/handle.ts'
import { findByKey } from '../database/key-lookup.ts'
import { statement, typed } from '../database/statement.ts'
import { ACTIVE_KEY_CONDITION } from './api-keys/api-keys.sql.ts'
import { buildHeldRolesSql } from './held-roles.sql.ts'
import { ACTIVE_BASIS_CONDITION, buildAdministratorSql, buildMemberCondition } from './token-status.sql.ts'

/** The rows that the access token or API key of a stream depends on. A client's own token has no user. */
export type StreamTokenBasis = {
  /** The tenant of the caller. */
  tenant: string
  /** The tenant of the request: it differs from `tenant` for operators of tenant system. */
  target: string
  clientId: string | null
  userId: string | null
  grantId: string | null
  sessionId: string | null
  organizationId: string | null
  deviceIp: string | null
  /** The hash of the API key in hexadecimal; null for an access token. */
  keyHash: string | null
}

/**
 * The current scopes of the token's client, or of the key with its networks, and the current roles of its user; `roles` is null
 * without a user.
 */
export type TokenStatus = {
  scopes: string[]
  roles: HeldRoles | null
  /** The user is an administrator of the organization of the token. */
  isAdministrator: boolean
  allowedNetworks: string[]
}

// Reads several tenants: the parameter `tenant` is the list of them, and every join is by tenant.
const NULLABLE = typed<(string | null)[]>('text[]')
const SELECT_TOKEN_STATUSES = statement({
  takes: {
    tenantIds: 'text[]',
    targets: 'text[]',
    clientIds: NULLABLE,
    userIds: NULLABLE,
    grantIds: NULLABLE,
    sessionIds: NULLABLE,
    organizationIds: NULLABLE,
    deviceIps: NULLABLE,
    keyHashes: NULLABLE,
  },
  returns: {
    index: 'int',
    scopes: 'text[]',
    roles: typed<HeldRoles | null>('text[]?'),
    isAdministrator: 'boolean',
    allowedNetworks: 'text[]',
  },
})`
  SELECT t."index"::int AS "index", COALESCE(c."scopes", k."scopes") AS "scopes", ${buildHeldRolesSql('u')} AS "roles",
    ${buildAdministratorSql('t."organizationId"', 't."tenantId"')} AS "isAdministrator",
    COALESCE(k."allowedNetworks", '{}') AS "allowedNetworks"
  FROM unnest(:tenantIds, :targets, :clientIds, :userIds, :grantIds, :sessionIds, :organizationIds, :deviceIps, :keyHashes)
    WITH ORDINALITY AS t("tenantId", "target", "clientId", "userId", "grantId", "sessionId", "organizationId", "deviceIp", "keyHash", "index")
  JOIN "Tenant" ON "Tenant"."tenantId" = t."target"
  LEFT JOIN "Client" c ON c."tenantId" = t."tenantId" AND c."id" = t."clientId"
  LEFT JOIN "ApiKeySecret" h ON h."tenantId" = t."tenantId" AND h."secretHash" = decode(t."keyHash", 'hex')
    AND (h."expiresAt" IS NULL OR h."expiresAt" > now())
  LEFT JOIN LATERAL ${findByKey('ApiKey', { tenantId: 't."tenantId"', id: 'h."apiKeyId"' })} k ON true
  LEFT JOIN LATERAL ${findByKey('User', { tenantId: 't."tenantId"', id: 't."userId"' })} u ON true
  LEFT JOIN LATERAL ${findByKey('Grant', { tenantId: 't."tenantId"', id: 't."grantId"' })} g ON g."userId" = u."id"
  LEFT JOIN LATERAL ${findByKey('Session', { tenantId: 't."tenantId"', id: 't."sessionId"' })} s ON s."userId" = u."id"
  WHERE :tenant = 'system'
    AND (t."target" = t."tenantId" OR c."allTenants")
    AND CASE WHEN t."keyHash" IS NOT NULL THEN ${ACTIVE_KEY_CONDITION}
      ELSE c."id" IS NOT NULL AND (
        t."userId" IS NULL OR (u."id" IS NOT NULL AND (t."grantId" IS NULL) = (g."id" IS NULL) AND ${ACTIVE_BASIS_CONDITION}
          AND ${buildMemberCondition('t."organizationId"', { tenant: 't."tenantId"', deviceIp: 't."deviceIp"' })})
      ) END`

/** Returns the status of each token, in the order of `bases`; null for an inactive token. One statement. */
export async function selectTokenStatuses(
  db: Db,
  bases: StreamTokenBasis[],
): Promise<(TokenStatus | null)[]> {
  const rows = await db.many(SELECT_TOKEN_STATUSES, {
    tenantIds: bases.map((basis) => basis.tenant),
    targets: bases.map((basis) => basis.target),
    clientIds: bases.map((basis) => basis.clientId),
    userIds: bases.map((basis) => basis.userId),
    grantIds: bases.map((basis) => basis.grantId),
    sessionIds: bases.map((basis) => basis.sessionId),
    organizationIds: bases.map((basis) => basis.organizationId),
    deviceIps: bases.map((basis) => basis.deviceIp),
    keyHashes: bases.map((basis) => basis.keyHash),
  })
  const statuses = new Map(rows.map(({ index, ...row }) => [index - 1, row]))
  return bases.map((_, index) => statuses.get(index) ?? null)
}
