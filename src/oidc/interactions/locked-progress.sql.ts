import type { Sql } from '../../database/db.ts'
import { statement, typed } from '../../database/statement.ts'
import type { Progress } from './interactions.ts'

const LOCK_PROGRESS = statement({
  takes: { handleHash: 'bytea', now: 'timestamptz' },
  returns: { progress: typed<Progress>('jsonb') },
})`
  SELECT "progress" FROM "Interaction"
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash AND "expiresAt" > :now FOR NO KEY UPDATE`

/** Locks an interaction and returns its progress; null when it has ended. */
export const lockProgress = async (
  sql: Sql,
  tenant: string,
  handleHash: Buffer,
  now: Date,
): Promise<Progress | null> => (await LOCK_PROGRESS.first(sql, { tenant, handleHash, now }))?.progress ?? null

const SET_PROGRESS = statement({ takes: { handleHash: 'bytea', progress: typed<Progress>('jsonb') } })`
  UPDATE "Interaction" SET "progress" = :progress WHERE "tenantId" = :tenant AND "handleHash" = :handleHash`

/** Stores the progress of an interaction inside the caller's transaction, which locks it. */
export const saveLockedProgress = (
  sql: Sql,
  tenant: string,
  handleHash: Buffer,
  progress: Progress,
): Promise<void> => SET_PROGRESS.run(sql, { tenant, handleHash, progress })
