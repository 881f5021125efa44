import type { ReadLimit } from '../../core/network/read-limit.ts'
import { storedColumns } from '../../database/columns.ts'
import type { Db } from '../../database/handle.ts'
import { statement } from '../../database/statement.ts'
import type { User } from '../../generated/prisma/client.ts'
import { TENANT } from '../list/index-planning.sql.ts'
import { toColumnList, USER_COLUMNS } from '../users.sql.ts'

const SELECT_USERS_AFTER = statement({
  takes: { id: 'text', limit: 'int' },
  returns: storedColumns('User'),
})`
  SELECT ${toColumnList(USER_COLUMNS)} FROM "User" WHERE "tenantId" = ${TENANT} AND "id" > :id ORDER BY "id" LIMIT :limit`

/** The users after an id, in the order of their ids. */
export const selectUsersAfter = (db: Db, id: string, limit: number, bytes: ReadLimit): Promise<User[]> =>
  db.many(SELECT_USERS_AFTER, { id, limit }, bytes)
