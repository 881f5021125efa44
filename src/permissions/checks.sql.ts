import { buildUserRolesSql } from '../access/effective-access.sql.ts'
import type { Db } from '../database/handle.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'

/** A way from a user to a permission. */
export type PermissionPath = {
  roleId: string
  roleName: string
  groupId: string | null
  groupName: string | null
  membershipId: string | null
}

export type CheckRow = RowOf<typeof SELECT_CHECKS>

const SELECT_CHECKS = statement({
  takes: { checks: 'jsonb', paths: 'int' },
  returns: {
    /** Null for a user who does not exist. */
    locked: 'boolean?',
    isKnown: 'boolean',
    isMember: 'boolean',
    paths: typed<PermissionPath[]>('jsonb'),
  },
})`
  SELECT u."locked", p."name" IS NOT NULL AS "isKnown",
    c."organizationId" IS NULL OR m."id" IS NOT NULL AS "isMember",
    coalesce(w."paths", '[]') AS "paths"
  FROM jsonb_to_recordset(:checks)
    c("index" int, "userId" text, "api" text, "permission" text, "organizationId" text)
  LEFT JOIN "User" u ON u."tenantId" = :tenant AND u."id" = c."userId"
  LEFT JOIN "Api" a ON a."tenantId" = :tenant AND a."identifier" = c."api"
  LEFT JOIN "ApiPermission" p ON p."tenantId" = :tenant AND p."apiId" = a."id" AND p."name" = c."permission"
  LEFT JOIN "Membership" m ON m."tenantId" = :tenant AND m."organizationId" = c."organizationId" AND m."userId" = u."id"
  LEFT JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object(
      'roleId', r."id", 'roleName', r."name", 'groupId', h."groupId", 'groupName', g."name", 'membershipId', h."membershipId"
    )) AS "paths"
    FROM (
      -- First the few roles of the user, whatever the statistics of the tables say, then a key for each.
      WITH held AS MATERIALIZED (${buildUserRolesSql('u."id"', 'm."organizationId"')})
      SELECT DISTINCT h0."roleId", h0."groupId", h0."membershipId" FROM held h0
      WHERE (
        SELECT TRUE FROM "AppRolePermission" x
        WHERE x."tenantId" = :tenant AND x."roleId" = h0."roleId" AND x."apiId" = p."apiId" AND x."name" = p."name"
      )
      ORDER BY h0."groupId" NULLS FIRST, h0."roleId"
      LIMIT :paths
    ) h
    JOIN "AppRole" r ON r."tenantId" = :tenant AND r."id" = h."roleId"
    LEFT JOIN "Group" g ON g."tenantId" = :tenant AND g."id" = h."groupId"
  ) w ON p."name" IS NOT NULL AND u."locked" = FALSE AND (c."organizationId" IS NULL OR m."id" IS NOT NULL)
  ORDER BY c."index"`

/** Checks permissions, in the order given, with up to so many ways to each: one statement. */
export const selectChecks = (db: Db, checks: readonly object[], paths: number): Promise<CheckRow[]> =>
  db.many(SELECT_CHECKS, { checks, paths })

const SELECT_USER_PERMISSIONS = statement({
  takes: { userId: 'text', organizationId: 'text?', limit: 'int' },
  returns: { api: 'text', name: 'text' },
})`
  SELECT DISTINCT a."identifier" AS "api", p."name"
  FROM (${buildUserRolesSql(':userId', ':organizationId')}) h
  JOIN "AppRolePermission" p ON p."tenantId" = :tenant AND p."roleId" = h."roleId"
  JOIN "Api" a ON a."tenantId" = :tenant AND a."id" = p."apiId"
  ORDER BY a."identifier", p."name" LIMIT :limit`

/** All permissions of a user, by API and name: one statement. */
export const selectUserPermissions = (
  db: Db,
  userId: string,
  organizationId: string | null,
  limit: number,
): Promise<{ api: string; name: string }[]> =>
  db.many(SELECT_USER_PERMISSIONS, { userId, organizationId, limit })

/** Roles that give a permission, and groups that have one of them or are nested in such a group. */
const HOLDERS = `
  WITH roles AS MATERIALIZED (
    SELECT x."roleId" FROM "Api" a
    JOIN "AppRolePermission" x ON x."tenantId" = :tenant AND x."apiId" = a."id" AND x."name" = :permission
    WHERE a."tenantId" = :tenant AND a."identifier" = :api
  ), given AS MATERIALIZED (
    SELECT DISTINCT h."groupId" FROM roles r
    JOIN "GroupAppRole" h ON h."tenantId" = :tenant AND h."roleId" = r."roleId"
  ), nested AS MATERIALIZED (
    SELECT g."id" FROM given n JOIN "Group" g ON g."tenantId" = :tenant AND g."parentId" = n."groupId"
  ), groups AS MATERIALIZED (
    SELECT n."groupId" FROM given n
    UNION SELECT n."id" FROM nested n
    UNION SELECT g."id" FROM nested n JOIN "Group" g ON g."tenantId" = :tenant AND g."parentId" = n."id"
  )`

const IS_MEMBER = (userId: string): string => `
  (:organizationId IS NULL OR EXISTS (
    SELECT FROM "Membership" m
    WHERE m."tenantId" = :tenant AND m."organizationId" = :organizationId AND m."userId" = ${userId}
  ))`

/** The users of each way, of whom `end` selects a part. */
const buildUserIds = (end: (userId: string) => string): string => `
  SELECT s."userId" FROM roles r CROSS JOIN LATERAL (
    SELECT h."userId" FROM "UserAppRole" h
    JOIN "User" u ON u."tenantId" = :tenant AND u."id" = h."userId" AND u."locked" = FALSE
    WHERE h."tenantId" = :tenant AND h."roleId" = r."roleId" AND ${IS_MEMBER('h."userId"')} ${end('h."userId"')}
  ) s
  UNION SELECT s."userId" FROM groups g CROSS JOIN LATERAL (
    SELECT h."userId" FROM "GroupMember" h
    JOIN "User" u ON u."tenantId" = :tenant AND u."id" = h."userId" AND u."locked" = FALSE
    WHERE h."tenantId" = :tenant AND h."groupId" = g."groupId" AND ${IS_MEMBER('h."userId"')}
      AND (h."organizationId" IS NULL OR h."organizationId" = :organizationId) ${end('h."userId"')}
  ) s
  UNION SELECT s."userId" FROM (
    SELECT m."userId" FROM "Membership" m
    JOIN "User" u ON u."tenantId" = :tenant AND u."id" = m."userId" AND u."locked" = FALSE
    WHERE m."tenantId" = :tenant AND m."organizationId" = :organizationId AND EXISTS (
      SELECT FROM "MembershipAppRole" h JOIN roles r ON r."roleId" = h."roleId"
      WHERE h."tenantId" = :tenant AND h."membershipId" = m."id"
    ) ${end('m."userId"')}
  ) s`

const PERMISSION = { api: 'text', permission: 'text', organizationId: 'text?' } as const

/** A page after (or, downwards, before) an id: each way is read from there on, so that a deep page costs as much as the first. */
const declarePage = (than: '>' | '<', direction: 'ASC' | 'DESC') =>
  statement({
    takes: { ...PERMISSION, after: 'text?', limit: 'int', skip: 'int' },
    returns: { id: 'text' },
  })`
  ${HOLDERS}
  SELECT p."userId" AS "id" FROM (${buildUserIds(
    (userId) => `
      AND (:after IS NULL OR ${userId} ${than} :after) ORDER BY ${userId} ${direction} LIMIT :limit + :skip`,
  )}) p
  ORDER BY p."userId" ${direction} LIMIT :limit OFFSET :skip`

const SELECT_FORWARD = declarePage('>', 'ASC')
const SELECT_BACKWARD = declarePage('<', 'DESC')

const COUNT = statement({ takes: PERMISSION, returns: { count: 'int' } })`
  ${HOLDERS}
  SELECT count(*)::int AS "count" FROM (${buildUserIds(() => '')}) p`

export type SearchedPermission = { api: string; permission: string; organizationId: string | null }

/** The ids of users who have a permission, in their order or the other way round. */
export const selectPermittedUsers = async (
  db: Db,
  searched: SearchedPermission,
  page: { after: string | null; limit: number; skip: number; isBackward: boolean },
): Promise<string[]> => {
  const { isBackward, ...values } = page
  const rows = await db.many(isBackward ? SELECT_BACKWARD : SELECT_FORWARD, { ...searched, ...values })
  return rows.map(({ id }) => id)
}

export const countPermittedUsers = async (db: Db, searched: SearchedPermission): Promise<number> =>
  (await db.one(COUNT, searched))?.count ?? 0
