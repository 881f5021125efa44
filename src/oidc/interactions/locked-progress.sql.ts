import type { Db } from '../../database/handle.ts'
import { statement, typed } from '../../database/statement.ts'
import type { InteractionBinding } from './interactions.sql.ts'
import type { Progress } from './progress.ts'

const LOCK_PROGRESS = statement({
  takes: { handleHash: 'bytea', browserHash: 'bytea', now: 'timestamptz' },
  returns: { progress: typed<Progress>('jsonb') },
})`
  SELECT "progress" FROM "Interaction"
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash AND "browserHash" = :browserHash AND "expiresAt" > :now
  FOR NO KEY UPDATE`

/** Locks an interaction and returns its progress; null when it has ended, or was bound anew. */
export const lockProgress = async (
  db: Db,
  binding: InteractionBinding,
  now: Date,
): Promise<Progress | null> => (await db.one(LOCK_PROGRESS, { ...binding, now }))?.progress ?? null

const SET_PROVEN_PROGRESS = statement({
  takes: {
    handleHash: 'bytea',
    browserHash: 'bytea',
    nextBrowserHash: 'bytea',
    progress: typed<Progress>('jsonb'),
  },
  returns: { clientId: 'text' },
})`
  UPDATE "Interaction" SET "progress" = :progress, "browserHash" = :nextBrowserHash
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash AND "browserHash" = :browserHash
  RETURNING "clientId"`

/**
 * Stores the progress after a proof inside the caller's transaction, and binds the interaction to the cookie that
 * `nextBrowserHash` is the hash of. False when it has ended, or was bound anew.
 */
export const saveProvenProgress = async (
  db: Db,
  proven: InteractionBinding & { nextBrowserHash: Buffer; progress: Progress },
): Promise<boolean> => (await db.one(SET_PROVEN_PROGRESS, { ...proven })) !== null
