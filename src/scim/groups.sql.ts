import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'

/** Members that a response, and a change as a whole, have at most. */
export const MAX_MEMBERS = 20_000

const DIFF_MEMBERS = statement({
  takes: { groupId: 'text', userIds: 'text[]' },
  returns: { userId: 'text', isWanted: 'boolean' },
})`
  SELECT COALESCE(w."userId", p."userId") AS "userId", w."userId" IS NOT NULL AS "isWanted"
  FROM (SELECT DISTINCT unnest(:userIds) AS "userId") w
  FULL JOIN (SELECT "userId" FROM "GroupMember" WHERE "tenantId" = :tenant AND "groupId" = :groupId) p ON p."userId" = w."userId"
  WHERE w."userId" IS NULL OR p."userId" IS NULL ORDER BY 1`

/** Who is to be added to a group, and who to be removed, so that it has these members. */
export async function diffMembers(db: Db, groupId: string, userIds: readonly string[]) {
  const rows = await db.many(DIFF_MEMBERS, { groupId, userIds })
  const select = (isWanted: boolean) =>
    rows.filter((row) => row.isWanted === isWanted).map(({ userId }) => userId)
  return { added: select(true), removed: select(false) }
}

const SELECT_MEMBERS = statement({
  takes: { groupIds: 'text[]', limit: 'int' },
  returns: { groupId: 'text', userId: 'text', name: 'text?', email: 'text?' },
})`
  SELECT g."groupId", g."userId", u."name", u."email" FROM (
    SELECT "groupId", "userId" FROM "GroupMember"
    WHERE "tenantId" = :tenant AND "groupId" = ANY (:groupIds) ORDER BY "groupId", "userId" LIMIT :limit
  ) g JOIN "User" u ON u."tenantId" = :tenant AND u."id" = g."userId" ORDER BY g."groupId", g."userId"`

/** The members of groups, up to one more than a response has. */
export const selectMembers = (db: Db, groupIds: readonly string[]) =>
  db.many(SELECT_MEMBERS, { groupIds, limit: MAX_MEMBERS + 1 })

const SELECT_MEMBER_VERSION = statement({ takes: { groupId: 'text' }, returns: { version: 'text' } })`
  SELECT count(*) || '-' || COALESCE(sum(hashtextextended("userId", 0)), 0) AS "version"
  FROM "GroupMember" WHERE "tenantId" = :tenant AND "groupId" = :groupId`

/** A text that changes with the members of a group. */
export const selectMemberVersion = async (db: Db, groupId: string): Promise<string> =>
  (await db.one(SELECT_MEMBER_VERSION, { groupId }))?.version ?? ''
