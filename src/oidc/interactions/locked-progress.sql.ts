import type { Sql } from '../../database/db.ts'
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
  sql: Sql,
  tenant: string,
  binding: InteractionBinding,
  now: Date,
): Promise<Progress | null> => (await LOCK_PROGRESS.first(sql, { tenant, ...binding, now }))?.progress ?? null

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
  sql: Sql,
  tenant: string,
  proven: InteractionBinding & { nextBrowserHash: Buffer; progress: Progress },
): Promise<boolean> => (await SET_PROVEN_PROGRESS.first(sql, { tenant, ...proven })) !== null
