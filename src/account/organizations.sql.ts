import { buildUserRolesSql } from '../access/effective-access.sql.ts'
import type { Db } from '../database/handle.ts'
import { type RowOf, statement } from '../database/statement.ts'

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
