import type { Db } from '../database/handle.ts'
import { statement, typed } from '../database/statement.ts'

/**
 * The names of roles, and the names of permissions by the identifier of their API. `organizationRoles` are the roles that
 * are held in the organization alone, by the membership or by groups of the organization; only they have the organization's own.
 */
export type EffectiveAccess = {
  roles: string[]
  organizationRoles: string[]
  permissions: Record<string, string[]>
}

/** What nobody without roles has. */
export const NO_ACCESS: EffectiveAccess = { roles: [], organizationRoles: [], permissions: {} }

/**
 * Each role that a user holds, with how: the one list of the ways to a role. Rows have `"roleId"`, and where it is not held
 * directly `"groupId"`, the group that has it, or `"membershipId"`; `"isInOrganization"` says that the organization is
 * the reason. Members of a group get the roles of the two groups around it too. `userId` and `organizationId` are SQL of
 * texts; without an organization, the latter is null.
 */
export const buildUserRolesSql = (userId: string, organizationId: string): string => `
  SELECT h_."roleId", NULL::text AS "groupId", NULL::text AS "membershipId", FALSE AS "isInOrganization"
  FROM "UserAppRole" h_ WHERE h_."tenantId" = :tenant AND h_."userId" = ${userId}
  UNION ALL
  SELECT h_."roleId", h_."groupId", NULL, m_."organizationId" IS NOT NULL
  FROM "GroupMember" m_
  JOIN "Group" g_ ON g_."tenantId" = :tenant AND g_."id" = m_."groupId"
  LEFT JOIN "Group" p_ ON p_."tenantId" = :tenant AND p_."id" = g_."parentId"
  JOIN "GroupAppRole" h_ ON h_."tenantId" = :tenant AND h_."groupId" IN (g_."id", g_."parentId", p_."parentId")
  WHERE m_."tenantId" = :tenant AND m_."userId" = ${userId}
    AND (m_."organizationId" IS NULL OR m_."organizationId" = ${organizationId})
  UNION ALL
  SELECT h_."roleId", NULL, h_."membershipId", TRUE
  FROM "Membership" m_
  JOIN "MembershipAppRole" h_ ON h_."tenantId" = :tenant AND h_."membershipId" = m_."id"
  WHERE m_."tenantId" = :tenant AND m_."userId" = ${userId} AND m_."organizationId" = ${organizationId}`

/** The roles of the tenant that a user holds, as a jsonb of names, each with the APIs at which it permits something. Arguments as above. */
export const buildHeldRolesSql = (userId: string, organizationId: string): string => `(
  SELECT coalesce(jsonb_agg(jsonb_build_object('name', r_."name", 'apis', ARRAY(
    SELECT DISTINCT a_."identifier" FROM "AppRolePermission" p_
    JOIN "Api" a_ ON a_."tenantId" = :tenant AND a_."id" = p_."apiId"
    WHERE p_."tenantId" = :tenant AND p_."roleId" = r_."id"
  )) ORDER BY r_."name"), '[]')
  FROM "AppRole" r_
  WHERE r_."tenantId" = :tenant AND r_."organizationId" IS NULL AND r_."id" IN (SELECT x_."roleId" FROM (${buildUserRolesSql(userId, organizationId)}) x_)
)`

/** The groups of a user and those around them, as a jsonb of names. Arguments as above. */
export const buildHeldGroupsSql = (userId: string, organizationId: string): string => `(
  SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('name', n_."name", 'isOfOrganization', n_."organizationId" IS NOT NULL)), '[]')
  FROM "GroupMember" m_
  JOIN "Group" g_ ON g_."tenantId" = :tenant AND g_."id" = m_."groupId"
  LEFT JOIN "Group" p_ ON p_."tenantId" = :tenant AND p_."id" = g_."parentId"
  JOIN "Group" n_ ON n_."tenantId" = :tenant AND n_."id" IN (g_."id", g_."parentId", p_."parentId")
  WHERE m_."tenantId" = :tenant AND m_."userId" = ${userId}
    AND (m_."organizationId" IS NULL OR m_."organizationId" = ${organizationId})
)`

/** The `organizationId` of `buildUserRolesSql` for the roles in each organization of the user. */
const EACH_ORGANIZATION = 'm_."organizationId"'

/** The roles of a machine client. `clientId` is SQL of the id. */
const buildClientRolesSql = (clientId: string): string => `
  SELECT h_."roleId", FALSE AS "isInOrganization" FROM "ClientAppRole" h_
  WHERE h_."tenantId" = :tenant AND h_."clientId" = ${clientId}`

/**
 * The one computation of effective roles and permissions, as a query of one jsonb (EffectiveAccess). `held` are rows with
 * `"roleId"`, each of them maybe several times. `identifiers` is SQL of a text[]: the APIs that the permissions are of.
 * A role that permits nothing at them is not named: another API may use its name. Aliases end with an underscore, so that they do not
 * hide those of the statement around it.
 */
const buildAccessQuery = (held: string, identifiers: string): string => `
  WITH access_role AS MATERIALIZED (
    SELECT r_."id", r_."name", x_."isInOrganization", r_."organizationId" FROM (
      SELECT y_."roleId", bool_and(y_."isInOrganization") AS "isInOrganization" FROM (${held}) y_ GROUP BY y_."roleId"
    ) x_
    JOIN "AppRole" r_ ON r_."tenantId" = :tenant AND r_."id" = x_."roleId"
  ), access_given AS MATERIALIZED (
    SELECT r_."id", a_."identifier", p_."name" AS "permission" FROM access_role r_
    JOIN "AppRolePermission" p_ ON p_."tenantId" = :tenant AND p_."roleId" = r_."id"
    JOIN "Api" a_ ON a_."tenantId" = :tenant AND a_."id" = p_."apiId" AND a_."identifier" = ANY (${identifiers})
  ), access_named AS MATERIALIZED (
    SELECT r_."name", r_."isInOrganization", r_."organizationId" FROM access_role r_
    WHERE r_."id" IN (SELECT g_."id" FROM access_given g_)
  )
  SELECT jsonb_build_object(
    'roles', (SELECT coalesce(jsonb_agg(n_."name" ORDER BY n_."name"), '[]') FROM access_named n_ WHERE n_."organizationId" IS NULL),
    'organizationRoles', (
      SELECT coalesce(jsonb_agg(n_."name" ORDER BY n_."name"), '[]') FROM access_named n_ WHERE n_."isInOrganization"
    ),
    'permissions', (
      SELECT coalesce(jsonb_object_agg(o_."identifier", o_."permissions"), '{}') FROM (
        SELECT g_."identifier", jsonb_agg(DISTINCT g_."permission") AS "permissions" FROM access_given g_ GROUP BY g_."identifier"
      ) o_
    )
  ) AS "access"`

/**
 * What a user may do at APIs, as a jsonb expression (EffectiveAccess) for the statement of a hot path: the permissions at
 * the APIs with these identifiers, and the roles that give one of them, in the tenant and in an organization.
 * Without identifiers PostgreSQL computes nothing, and the expression is null. The arguments are SQL of a text, a text[]
 * and a text, whose aliases do not end with an underscore.
 */
export const buildUserAccessSql = (userId: string, identifiers: string, organizationId = 'NULL'): string =>
  `CASE WHEN cardinality(${identifiers}) > 0 THEN (${buildAccessQuery(buildUserRolesSql(userId, organizationId), identifiers)}) END`

/** The same of a machine client. */
export const buildClientAccessSql = (clientId: string, identifiers: string): string =>
  `CASE WHEN cardinality(${identifiers}) > 0 THEN (${buildAccessQuery(buildClientRolesSql(clientId), identifiers)}) END`

const ACCESS = { returns: { access: typed<EffectiveAccess>('jsonb') } } as const

const SELECT_USER_ACCESS = statement({
  takes: { userId: 'text', identifiers: 'text[]', organizationId: 'text?' },
  ...ACCESS,
})`
  ${buildAccessQuery(buildUserRolesSql(':userId', ':organizationId'), ':identifiers')}`

const SELECT_CLIENT_ACCESS = statement({ takes: { clientId: 'text', identifiers: 'text[]' }, ...ACCESS })`
  ${buildAccessQuery(buildClientRolesSql(':clientId'), ':identifiers')}`

/**
 * What a user may do at the APIs with these identifiers, in the tenant and in an organization: one statement, none without
 * identifiers.
 */
export async function selectUserAccess(
  db: Db,
  userId: string,
  identifiers: readonly string[],
  organizationId: string | null = null,
): Promise<EffectiveAccess> {
  if (identifiers.length === 0) return NO_ACCESS
  return (await db.one(SELECT_USER_ACCESS, { userId, identifiers, organizationId }))?.access ?? NO_ACCESS
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

/** Whether a user holds a role at APIs, by a group and in an organization too. `userId` is SQL. */
export const buildHoldsRolesSql = (userId: string): string =>
  `EXISTS (${buildUserRolesSql(userId, EACH_ORGANIZATION)})`

/** Whether a user is an administrator of an organization. `userId` is SQL. */
export const buildAdministersSql = (userId: string): string =>
  `EXISTS (SELECT FROM "Membership" a_ WHERE a_."tenantId" = :tenant AND a_."userId" = ${userId} AND a_."isAdministrator")`

/** The rights of users beyond their management roles. */
export type HeldRights = { holdsRoles: boolean; administers: boolean }

const SELECT_HELD_RIGHTS = statement({
  takes: { userIds: 'text[]' },
  returns: { id: 'text', holdsRoles: 'boolean', administers: 'boolean' },
})`
  SELECT u."id", ${buildHoldsRolesSql('u."id"')} AS "holdsRoles", ${buildAdministersSql('u."id"')} AS "administers"
  FROM "User" u WHERE u."tenantId" = :tenant AND u."id" = ANY (:userIds)`

export const selectHeldRights = (db: Db, userIds: string[]): Promise<(HeldRights & { id: string })[]> =>
  db.many(SELECT_HELD_RIGHTS, { userIds })
