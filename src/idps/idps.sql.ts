import type { Db, Tx } from '../database/handle.ts'
import { declareRowLock } from '../database/row-locks.sql.ts'
import { statement } from '../database/statement.ts'
import { type IdentityProvider, Prisma } from '../generated/prisma/client.ts'

const COLUMNS = Object.values(Prisma.IdentityProviderScalarFieldEnum)
const LOCK_IDP = declareRowLock('IdentityProvider', COLUMNS, 'FOR UPDATE')

/**
 * Locks the provider's row: other changes of it, and new links to it, wait. Null when there is no such
 * provider.
 */
export const lockIdp = (tx: Tx, id: string): Promise<IdentityProvider | null> => tx.one(LOCK_IDP, { id })

const SELECT_ROLES_OF_LINKED = statement({ takes: { id: 'text' }, returns: { role: 'text' } })`
  SELECT DISTINCT r."role" FROM "IdpUser" l
  JOIN "User" u ON u."tenantId" = :tenant AND u."id" = l."userId", unnest(u."roles") AS r("role")
  WHERE l."tenantId" = :tenant AND l."idpId" = :id`

/** The roles of the users who are linked to a provider. */
export const selectLinkedUserRoles = async (db: Db, id: string): Promise<string[]> =>
  (await db.many(SELECT_ROLES_OF_LINKED, { id })).map(({ role }) => role)

// In the order of an index, from where the last batch ended: deleted entries are still in the index.
const DELETE_LINKS = statement({
  takes: { id: 'text', afterUserId: 'text', limit: 'int' },
  returns: { count: 'int', lastUserId: 'text?' },
})`
  WITH batch AS (
    SELECT "id", "userId" FROM "IdpUser" WHERE "tenantId" = :tenant AND "idpId" = :id AND "userId" > :afterUserId
    ORDER BY "userId" LIMIT :limit
  ), deleted AS (
    DELETE FROM "IdpUser" WHERE "tenantId" = :tenant AND "id" IN (SELECT "id" FROM batch)
  )
  SELECT count(*)::int AS "count", max("userId") AS "lastUserId" FROM batch`

/**
 * Deletes up to `limit` links to a locked provider, of users after one; returns how many there were, and the
 * last user.
 */
export async function deleteIdpLinks(
  db: Db,
  id: string,
  after: { afterUserId: string; limit: number },
): Promise<{ count: number; lastUserId: string | null }> {
  const row = await db.one(DELETE_LINKS, { id, ...after })
  return row ?? { count: 0, lastUserId: null }
}
