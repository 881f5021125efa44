import type { Db } from '../../database/handle.ts'
import { statement } from '../../database/statement.ts'
import type { InteractionBinding } from './interactions.sql.ts'

const STORE_LINK = statement({
  takes: { handleHash: 'bytea', browserHash: 'bytea', nextBrowserHash: 'bytea', link: 'jsonb' },
  returns: { clientId: 'text' },
})`
  UPDATE "Interaction" SET "progress" = "progress" || jsonb_build_object('pendingLink', :link),
    "browserHash" = :nextBrowserHash
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash AND "browserHash" = :browserHash
  RETURNING "clientId"`

const CLEAR_LINK = statement({ takes: { handleHash: 'bytea', browserHash: 'bytea' } })`
  UPDATE "Interaction" SET "progress" = "progress" - 'pendingLink'
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash AND "browserHash" = :browserHash`

/**
 * Stores a proven identity that is not linked, and binds the interaction to the cookie that `nextBrowserHash` is the
 * hash of. Does not change other progress. False when it has ended, or was bound anew.
 */
export const insertPendingLink = async (
  db: Db,
  proven: InteractionBinding & { nextBrowserHash: Buffer; link: object },
): Promise<boolean> => (await db.one(STORE_LINK, { ...proven })) !== null

/** Removes a proven identity. Does not change other progress. */
export const clearPendingLink = (db: Db, binding: InteractionBinding): Promise<void> =>
  db.run(CLEAR_LINK, { ...binding })
