import type { Db } from '../../database/handle.ts'
import { statement } from '../../database/statement.ts'
import type { InteractionBinding } from './interactions.sql.ts'
import type { Progress } from './progress.ts'

const STORE_ATTEMPT = statement({ takes: { handleHash: 'bytea', browserHash: 'bytea', progress: 'jsonb' } })`
  UPDATE "Interaction" SET "progress" = "progress" || :progress || '{"isLed": true}'
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash AND "browserHash" = :browserHash`

/**
 * Stores the attempt to sign in at a provider, in place of an earlier one, that the browser was sent to one, and what
 * the form said about the browser. Does not change other progress.
 */
export const storeProviderAttempt = (
  db: Db,
  binding: InteractionBinding,
  progress: Pick<Progress, 'provider' | 'canCreatePasskey' | 'staySignedIn'>,
): Promise<void> => db.run(STORE_ATTEMPT, { ...binding, progress })

const CLAIM_ATTEMPT = statement({
  takes: { handleHash: 'bytea', browserHash: 'bytea', attemptId: 'text' },
  returns: { clientId: 'text' },
})`
  UPDATE "Interaction" SET "progress" = "progress" - 'provider'
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash AND "browserHash" = :browserHash
    AND "progress"->'provider'->>'id' = :attemptId
  RETURNING "clientId"`

/** Removes an attempt, so that its answer is accepted once. False when it was removed before. */
export const claimProviderAttempt = async (
  db: Db,
  binding: InteractionBinding,
  attemptId: string,
): Promise<boolean> => (await db.one(CLAIM_ATTEMPT, { ...binding, attemptId })) !== null
