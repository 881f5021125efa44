import { buildUserAccessSql, type EffectiveAccess } from '../../access/effective-access.sql.ts'
import { HELD_ROLES } from '../../access/held-roles.sql.ts'
import { buildUnmetRuleSql } from '../../access/organization-policy.sql.ts'
import { buildInsertSessionClientsSql } from '../../access/revocation/session-clients.sql.ts'
import { type RowOf, typed } from '../../database/statement.ts'
import { toGrantEventColumns } from '../../events/event-columns.sql.ts'
import { buildInsertEventsSql } from '../../events/log.sql.ts'
import type { PolicyRule } from '../../model/organization-policy.ts'
import { buildInsertSessionOrganizationSql } from '../../sessions/session-organizations.sql.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'
import type { ClaimsUserJson } from './granted-user.sql.ts'

/** The values of a new grant that do not come from the code. */
export type GrantTerms = {
  /** The address of the caller, if it is the device of the user. */
  deviceIp: string | null
  /** Thumbprint of the DPoP key that its refresh tokens are bound to. */
  grantDpopJkt: string | null
  /** SHA-256 of the secret of the refresh tokens, for grants with offline_access. */
  secretHash: Buffer
  now: Date
  /** When the last access token of a grant without refresh tokens expires. */
  onlineExpiresAt: Date
  idleExpiresAt: Date
  expiresAt: Date
}

/** The organization that tokens are for. */
export type TokenOrganization = {
  id: string
  slug: string
  sessionLifetimeSeconds: number | null
  /** What it demands and the sign-in does not satisfy. */
  unmet?: PolicyRule | null
}

/**
 * The organization of a user as a `TokenOrganization`, by its id or, if `slug` is given, by that; null unless the user is a
 * member. Without an `id`, nothing is read. `signIn` has the columns of the sign-in of the tokens.
 */
export const buildTokenOrganizationSql = (
  user: string,
  id: string,
  signIn: { authenticatedAt: string; amr: string },
  slug = 'NULL',
) =>
  `CASE WHEN ${id} IS NOT NULL THEN (
    SELECT jsonb_build_object('id', o."id", 'slug', o."slug", 'sessionLifetimeSeconds', o."sessionLifetimeSeconds",
      'unmet', ${buildUnmetRuleSql({ ...signIn, deviceIp: ':deviceIp' })}) FROM "Membership" m
    JOIN "Organization" o ON o."tenantId" = :tenant AND o."id" = m."organizationId"
    WHERE m."tenantId" = :tenant AND m."userId" = ${user} AND (o."id" = ${id} OR o."slug" = ${slug}) LIMIT 1
  ) END`

/**
 * SQL of the APIs of a grant: those of its tokens that the request selects (`:apis`), or else its resources, or the default
 * audience (`:defaultApi`).
 */
export const buildGrantApisSql = (grant: string): string =>
  `COALESCE(:apis, CASE WHEN cardinality(${grant}."resources") > 0 THEN ${grant}."resources" ELSE array_remove(ARRAY[:defaultApi], NULL) END)`

/** The roles and permissions of the user `u` at the APIs of a grant. `organizationId` is SQL of the organization of the token. */
export const buildGrantAccessSql = (grant: string, organizationId: string): string =>
  buildUserAccessSql('u."id"', buildGrantApisSql(grant), organizationId)
/** Parameters of `buildGrantApisSql`. */
export const GRANT_ACCESS_PARAMETERS = { apis: 'text[]?', defaultApi: 'text?' } as const

/** The columns of a grant that was created by redeeming an authorization code or a device code. */
export const NEW_GRANT_RETURNS = {
  grantId: 'text',
  clientId: 'text',
  userId: 'text',
  sessionId: 'text',
  scopes: 'text[]',
  resources: 'text[]',
  defaultAudience: 'text?',
  organization: typed<TokenOrganization | null>('jsonb?'),
  claims: typed<ClaimsRequest | null>('jsonb?'),
  nonce: 'text?',
  authenticatedAt: 'timestamptz',
  amr: 'text[]',
  offline: 'boolean',
  roles: HELD_ROLES,
  access: typed<EffectiveAccess | null>('jsonb?'),
  claimsUser: typed<ClaimsUserJson | null>('jsonb?'),
} as const
export type NewGrant = RowOf<{ returns: typeof NEW_GRANT_RETURNS }>

/** Parameters of `NEW_GRANT_CTES`: `GrantTerms` and the event. */
export const NEW_GRANT_PARAMETERS = {
  now: 'timestamptz',
  secretHash: 'bytea',
  idleExpiresAt: 'timestamptz',
  expiresAt: 'timestamptz',
  onlineExpiresAt: 'timestamptz',
  grantDpopJkt: 'text?',
  deviceIp: 'text?',
  events: 'jsonb',
} as const

/**
 * The CTEs that insert a grant, `new_grant`, and record its event, in the statement that redeems a code. The
 * statement defines `valid_code`, which has the columns of a `NewGrant` and locks the rows of the user and
 * the session, and `redeemed_code`, which has "grantId" when this statement may redeem the code. A grant that exists is
 * not created again: `new_grant` has no row then.
 */
export const NEW_GRANT_CTES = `new_grant AS (
    INSERT INTO "Grant" ("tenantId", "id", "clientId", "userId", "sessionId", "scopes", "resources", "defaultAudience", "organizationId", "claims", "dpopJkt", "offline",
      "secretHash", "authenticatedAt", "amr", "idleExpiresAt", "expiresAt", "createdAt")
    SELECT :tenant, v."grantId", v."clientId", v."userId", v."sessionId", v."scopes", v."resources", v."defaultAudience", v."organization"->>'id', v."claims", :grantDpopJkt,
      v."offline", CASE WHEN v."offline" THEN :secretHash END, v."authenticatedAt", v."amr",
      CASE WHEN v."offline" THEN :idleExpiresAt ELSE :onlineExpiresAt END,
      CASE WHEN v."offline" THEN :expiresAt ELSE :onlineExpiresAt END, :now
    FROM valid_code v JOIN redeemed_code r ON r."grantId" = v."grantId"
    ON CONFLICT ("tenantId", "id") DO NOTHING
    RETURNING "id", "userId", "sessionId", "clientId", "organizationId"
  ), session_organizations AS (${buildInsertSessionOrganizationSql('new_grant')}
  ), session_clients AS (${buildInsertSessionClientsSql('new_grant')}
  ), event_log AS (${buildInsertEventsSql(':events', {
    from: 'new_grant',
    columns: toGrantEventColumns('new_grant'),
  })})`
