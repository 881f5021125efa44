import type { Db } from '../database/handle.ts'
import { statement, typed } from '../database/statement.ts'

/** The names of roles, and the names of permissions by the identifier of their API. */
export type EffectiveAccess = { roles: string[]; permissions: Record<string, string[]> }

/** What nobody without roles has. */
export const NO_ACCESS: EffectiveAccess = { roles: [], permissions: {} }

/**
 * The one computation of effective roles and permissions, as a query of one jsonb (EffectiveAccess). `held` are rows with
 * `"roleId"`, each of them maybe several times. `identifiers` is SQL of a text[]: the APIs that permissions are of, and
 * among whose roles those are that have permissions. Aliases end with an underscore, so that they do not
 * hide those of the statement around it.
 */
const buildAccessQuery = (held: string, identifiers: string): string => `
  WITH access_role AS MATERIALIZED (
    SELECT r_."id", r_."name" FROM "AppRole" r_ WHERE r_."tenantId" = :tenant AND r_."id" IN (${held})
  ), access_given AS MATERIALIZED (
    SELECT r_."id", a_."identifier", p_."name" AS "permission" FROM access_role r_
    JOIN "AppRolePermission" p_ ON p_."tenantId" = :tenant AND p_."roleId" = r_."id"
    JOIN "Api" a_ ON a_."tenantId" = :tenant AND a_."id" = p_."apiId" AND a_."identifier" = ANY (${identifiers})
  )
  SELECT jsonb_build_object(
    'roles', (
      SELECT coalesce(jsonb_agg(r_."name" ORDER BY r_."name"), '[]') FROM access_role r_
      WHERE r_."id" IN (SELECT g_."id" FROM access_given g_)
        OR NOT EXISTS (SELECT FROM "AppRolePermission" p_ WHERE p_."tenantId" = :tenant AND p_."roleId" = r_."id")
    ),
    'permissions', (
      SELECT coalesce(jsonb_object_agg(o_."identifier", o_."permissions"), '{}') FROM (
        SELECT g_."identifier", jsonb_agg(DISTINCT g_."permission") AS "permissions" FROM access_given g_ GROUP BY g_."identifier"
      ) o_
    )
  ) AS "access"`

/** The roles of a user. `userId` is SQL of the id. */
const buildUserRolesSql = (userId: string): string => `
    SELECT h_."roleId" FROM "UserAppRole" h_ WHERE h_."tenantId" = :tenant AND h_."userId" = ${userId}`

/** The roles of a machine client. `clientId` is SQL of the id. */
const buildClientRolesSql = (clientId: string): string => `
    SELECT h_."roleId" FROM "ClientAppRole" h_ WHERE h_."tenantId" = :tenant AND h_."clientId" = ${clientId}`

/**
 * What a user may do at APIs, as a jsonb expression (EffectiveAccess) for the statement of a hot path: the permissions at
 * the APIs with these identifiers, and the roles that give one of them or that have none. Without identifiers PostgreSQL
 * computes nothing, and the expression is null. The arguments are SQL of a text and of a text[], whose
 * aliases do not end with an underscore.
 */
export const buildUserAccessSql = (userId: string, identifiers: string): string =>
  `CASE WHEN cardinality(${identifiers}) > 0 THEN (${buildAccessQuery(buildUserRolesSql(userId), identifiers)}) END`

/** The same of a machine client. */
export const buildClientAccessSql = (clientId: string, identifiers: string): string =>
  `CASE WHEN cardinality(${identifiers}) > 0 THEN (${buildAccessQuery(buildClientRolesSql(clientId), identifiers)}) END`

const ACCESS = { returns: { access: typed<EffectiveAccess>('jsonb') } } as const

const SELECT_USER_ACCESS = statement({ takes: { userId: 'text', identifiers: 'text[]' }, ...ACCESS })`
  ${buildAccessQuery(buildUserRolesSql(':userId'), ':identifiers')}`

const SELECT_CLIENT_ACCESS = statement({ takes: { clientId: 'text', identifiers: 'text[]' }, ...ACCESS })`
  ${buildAccessQuery(buildClientRolesSql(':clientId'), ':identifiers')}`

/** What a user may do at the APIs with these identifiers: one statement, none without identifiers. */
export async function selectUserAccess(
  db: Db,
  userId: string,
  identifiers: readonly string[],
): Promise<EffectiveAccess> {
  if (identifiers.length === 0) return NO_ACCESS
  return (await db.one(SELECT_USER_ACCESS, { userId, identifiers }))?.access ?? NO_ACCESS
}

/** What a machine client may do at the APIs with these identifiers: one statement, none without identifiers. */
export async function selectClientAccess(
  db: Db,
  clientId: string,
  identifiers: readonly string[],
): Promise<EffectiveAccess> {
  if (identifiers.length === 0) return NO_ACCESS
  return (await db.one(SELECT_CLIENT_ACCESS, { clientId, identifiers }))?.access ?? NO_ACCESS
}
