import { statement } from '../database/statement.ts'

/**
 * Locks a membership, and a provider as it was at a time, against changes of it: the mapping is the one that the caller has. No row when
 * either is gone or changed.
 */
export const LOCK_PROVIDED = statement({
  takes: { organizationId: 'text', userId: 'text', idpId: 'text', idpUpdatedAt: 'timestamptz' },
  returns: { membershipId: 'text' },
})`
  SELECT m."id" AS "membershipId" FROM "Membership" m
  JOIN "IdentityProvider" i ON i."tenantId" = :tenant AND i."id" = :idpId AND i."updatedAt" = :idpUpdatedAt
  WHERE m."tenantId" = :tenant AND m."organizationId" = :organizationId AND m."userId" = :userId
  FOR NO KEY UPDATE OF m FOR SHARE OF i`

/**
 * Gives a locked member the roles that still exist for members, besides those that it holds and no more than it may hold, and takes those that
 * the provider gave and that are not among them.
 */
export const SYNC_PROVIDED = statement({
  takes: {
    membershipId: 'text',
    organizationId: 'text',
    idpId: 'text',
    roleIds: 'text[]',
    max: 'int',
  },
  returns: { roleId: 'text', name: 'text', isAdded: 'boolean' },
})`
  WITH wanted AS MATERIALIZED (
    SELECT r."id", r."name" FROM "AppRole" r
    WHERE r."tenantId" = :tenant AND r."id" = ANY (:roleIds) AND 'member' = ANY (r."assignableTo")
      AND (r."organizationId" IS NULL OR r."organizationId" = :organizationId)
    ORDER BY r."id" FOR KEY SHARE
  ), held AS (
    SELECT h."roleId" FROM "MembershipAppRole" h WHERE h."tenantId" = :tenant AND h."membershipId" = :membershipId
  ), removed AS (
    DELETE FROM "MembershipAppRole" h USING "AppRole" r
    WHERE h."tenantId" = :tenant AND h."membershipId" = :membershipId AND h."idpId" = :idpId
      AND h."roleId" NOT IN (SELECT w."id" FROM wanted w) AND r."tenantId" = :tenant AND r."id" = h."roleId"
    RETURNING h."roleId", r."name"
  ), added AS (
    INSERT INTO "MembershipAppRole" ("tenantId", "membershipId", "roleId", "idpId")
    SELECT :tenant, :membershipId, w."id", :idpId FROM wanted w
    WHERE w."id" NOT IN (SELECT h."roleId" FROM held h) ORDER BY w."id"
    LIMIT greatest(0, :max - (SELECT count(*) FROM held) + (SELECT count(*) FROM removed))
    ON CONFLICT DO NOTHING
    RETURNING "roleId"
  )
  SELECT w."id" AS "roleId", w."name", TRUE AS "isAdded" FROM added a JOIN wanted w ON w."id" = a."roleId"
  UNION ALL SELECT r."roleId", r."name", FALSE FROM removed r ORDER BY "name"`
