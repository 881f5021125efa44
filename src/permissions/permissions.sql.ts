import type { Db, Tx } from '../database/handle.ts'
import { statement } from '../database/statement.ts'

const WRITE_PERMISSIONS = statement({ takes: { apiId: 'text', permissions: 'jsonb' } })`
  INSERT INTO "ApiPermission" ("tenantId", "apiId", "name", "description", "translations", "isAllowedInOrganizations")
  SELECT :tenant, :apiId, p.*
  FROM jsonb_to_recordset(:permissions)
    p("name" text, "description" text, "translations" jsonb, "isAllowedInOrganizations" boolean)
  ON CONFLICT ("tenantId", "apiId", "name") DO UPDATE
  SET "description" = EXCLUDED."description", "translations" = EXCLUDED."translations",
    "isAllowedInOrganizations" = EXCLUDED."isAllowedInOrganizations"`

/** Adds permissions to an API, and changes those of the same names, whose roles keep them. */
export const writePermissions = (db: Db, apiId: string, permissions: readonly object[]): Promise<void> =>
  db.run(WRITE_PERMISSIONS, { apiId, permissions })

const LOCK_USERS = statement({ takes: { userIds: 'text[]' } })`
  SELECT FROM "User" WHERE "tenantId" = :tenant AND "id" = ANY (:userIds) ORDER BY "id" FOR NO KEY UPDATE`

/** Locks users, in the order of their ids, so that changes of what they hold wait for each other. */
export const lockUsers = (tx: Db, userIds: readonly string[]): Promise<void> =>
  tx.run(LOCK_USERS, { userIds })

const LOCK_MEMBERSHIPS = statement({ takes: { ids: 'text[]' } })`
  SELECT FROM "Membership" WHERE "tenantId" = :tenant AND "id" = ANY (:ids) ORDER BY "id" FOR NO KEY UPDATE`

/** Locks memberships, in the order of their ids, as `lockUsers` does users. */
export const lockMemberships = (tx: Db, ids: string[]): Promise<void> => tx.run(LOCK_MEMBERSHIPS, { ids })

/** Takes a role out of the mappings of identity providers. */
export const DELETE_FROM_MAPPINGS = statement({ takes: { id: 'text' } })`
  UPDATE "IdentityProvider" SET "updatedAt" = greatest(now(), "updatedAt" + interval '1 millisecond'), "claimRoles" = (
    SELECT coalesce(jsonb_agg(m."entry" ORDER BY m."place"), '[]')
    FROM jsonb_array_elements("claimRoles") WITH ORDINALITY m("entry", "place") WHERE m."entry"->>'appRoleId' <> :id
  )
  WHERE "tenantId" = :tenant AND "claimRoles" @> jsonb_build_array(jsonb_build_object('appRoleId', :id))`

const SHARE_ROLES = statement({ takes: { ids: 'text[]' } })`
  SELECT FROM "AppRole" WHERE "tenantId" = :tenant AND "id" = ANY (:ids) ORDER BY "id" FOR KEY SHARE`

/** Makes the deletion of roles wait until the transaction ends. */
export const shareRoles = (tx: Tx, ids: readonly string[]): Promise<void> =>
  tx.run(SHARE_ROLES, { ids: [...ids] })
