import type { Sql } from '../db.ts'
import type { User } from '../generated/prisma/client.ts'
import { TENANT } from './plan-by-keys.sql.ts'
import { COLUMNS, list } from './users.sql.ts'

const USERS_BEYOND = `
  SELECT ${list(COLUMNS)} FROM "User" WHERE "tenantId" = ${TENANT} AND "id" > $2 ORDER BY "id" LIMIT $3::int`

/** The users behind an id, in order of id. */
export const selectUsersBeyond = (sql: Sql, tenant: string, id: string, limit: number): Promise<User[]> =>
  sql<User>(USERS_BEYOND, [tenant, id, limit])
