import type { Db } from '../database/handle.ts'
import { type RowOf, statement } from '../database/statement.ts'

/** Who holds a role: the id of the holder, and those of what it is made of. */
export type RoleHolder = RowOf<typeof SELECT_FORWARD>

/** Where roles of each kind of holder are stored, with SQL of the ids. */
const KINDS = [
  { table: 'UserAppRole', id: 'h."userId"', ids: 'h."userId", NULL, NULL, NULL' },
  { table: 'ClientAppRole', id: 'h."clientId"', ids: 'NULL, h."clientId", NULL, NULL' },
  {
    table: 'GroupAppRole',
    id: 'h."groupId"',
    ids: 'NULL, NULL, h."groupId", g."organizationId"',
    join: 'JOIN "Group" g ON g."tenantId" = :tenant AND g."id" = h."groupId"',
  },
  {
    table: 'MembershipAppRole',
    id: 'h."membershipId"',
    ids: 'm."userId", NULL, NULL, m."organizationId"',
    join: 'JOIN "Membership" m ON m."tenantId" = :tenant AND m."id" = h."membershipId"',
  },
]

/** A page after (or, downwards, before) an id: each kind is read from there on. */
const declarePage = (than: '>' | '<', direction: 'ASC' | 'DESC') =>
  statement({
    takes: { roleId: 'text', after: 'text?', limit: 'int', skip: 'int' },
    returns: {
      holderId: 'text',
      userId: 'text?',
      clientId: 'text?',
      groupId: 'text?',
      organizationId: 'text?',
    },
  })`
  SELECT p.* FROM (${KINDS.map(
    ({ table, id, ids, join = '' }) => `
    SELECT s.* FROM (
      SELECT ${id}, ${ids} FROM "${table}" h ${join}
      WHERE h."tenantId" = :tenant AND h."roleId" = :roleId AND (:after IS NULL OR ${id} ${than} :after)
      ORDER BY ${id} ${direction} LIMIT :limit + :skip
    ) s`,
  ).join(' UNION ALL ')}) p ("holderId", "userId", "clientId", "groupId", "organizationId")
  ORDER BY p."holderId" ${direction} LIMIT :limit OFFSET :skip`

const SELECT_FORWARD = declarePage('>', 'ASC')
const SELECT_BACKWARD = declarePage('<', 'DESC')

const COUNT = statement({ takes: { roleId: 'text' }, returns: { count: 'int' } })`
  SELECT count(*)::int AS "count" FROM (${KINDS.map(
    ({ table }) => `SELECT FROM "${table}" h WHERE h."tenantId" = :tenant AND h."roleId" = :roleId`,
  ).join(' UNION ALL ')}) p`

/** Who holds a role directly, by id or the other way round. */
export const selectRoleHolders = (
  db: Db,
  page: { roleId: string; after: string | null; limit: number; skip: number },
  direction: 'asc' | 'desc',
): Promise<RoleHolder[]> => db.many(direction === 'desc' ? SELECT_BACKWARD : SELECT_FORWARD, page)

export const countRoleHolders = async (db: Db, roleId: string): Promise<number> =>
  (await db.one(COUNT, { roleId }))?.count ?? 0
