import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'

const LOCK_USERS = statement({ takes: { userIds: 'text[]' } })`
  SELECT FROM "User" WHERE "tenantId" = :tenant AND "id" = ANY (:userIds) ORDER BY "id" FOR NO KEY UPDATE`

/** Locks users, in the order of their ids, so that changes of what they hold wait for each other. */
export const lockUsers = (tx: Db, userIds: readonly string[]): Promise<void> =>
  tx.run(LOCK_USERS, { userIds })
