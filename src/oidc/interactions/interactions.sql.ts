import type { Db } from '../../database/handle.ts'
import { statement, typed } from '../../database/statement.ts'
import type { Progress } from './progress.ts'

/** How an interaction is found: by its handle, while it is bound as when it was read. */
export type InteractionBinding = { handleHash: Buffer; browserHash: Buffer }

const BINDING = { handleHash: 'bytea', browserHash: 'bytea' } as const
const IS_BOUND = `"tenantId" = :tenant AND "handleHash" = :handleHash AND "browserHash" = :browserHash`

const SET_REJECTION = statement({ takes: { ...BINDING, refusal: 'jsonb' } })`
  UPDATE "Interaction" SET "progress" = "progress" || jsonb_build_object('refusal', :refusal)
  WHERE ${IS_BOUND}`

const CLEAR_REJECTION = statement({ takes: { ...BINDING } })`
  UPDATE "Interaction" SET "progress" = "progress" - 'refusal'
  WHERE ${IS_BOUND}`

/**
 * Stores why an input was rejected; null clears it. Does not change other progress, so that of two forms
 * submitted at the same time the rejected one does not undo the other.
 */
export const updateInputRejection = (
  db: Db,
  binding: InteractionBinding,
  refusal: object | null,
): Promise<void> =>
  refusal ? db.run(SET_REJECTION, { ...binding, refusal }) : db.run(CLEAR_REJECTION, { ...binding })

const LOCK_PROGRESS = statement({
  takes: { ...BINDING, now: 'timestamptz' },
  returns: { progress: typed<Progress>('jsonb') },
})`
  SELECT "progress" FROM "Interaction"
  WHERE ${IS_BOUND} AND "expiresAt" > :now
  FOR NO KEY UPDATE`

/** Locks an interaction and returns its progress; null when it has ended, or was bound anew. */
export const lockProgress = async (
  db: Db,
  binding: InteractionBinding,
  now: Date,
): Promise<Progress | null> => (await db.one(LOCK_PROGRESS, { ...binding, now }))?.progress ?? null

const SET_PROVEN_PROGRESS = statement({
  takes: {
    ...BINDING,
    nextBrowserHash: 'bytea',
    progress: typed<Progress>('jsonb'),
  },
  returns: { clientId: 'text' },
})`
  UPDATE "Interaction" SET "progress" = :progress, "browserHash" = :nextBrowserHash
  WHERE ${IS_BOUND}
  RETURNING "clientId"`

/**
 * Stores the progress after a proof inside the caller's transaction, and binds the interaction to the cookie that
 * `nextBrowserHash` is the hash of. False when it has ended, or was bound anew.
 */
export const saveProvenProgress = async (
  db: Db,
  proven: InteractionBinding & { nextBrowserHash: Buffer; progress: Progress },
): Promise<boolean> => (await db.one(SET_PROVEN_PROGRESS, { ...proven })) !== null

const STORE_LINK = statement({
  takes: { ...BINDING, nextBrowserHash: 'bytea', link: 'jsonb' },
  returns: { clientId: 'text' },
})`
  UPDATE "Interaction" SET "progress" = "progress" || jsonb_build_object('pendingLink', :link),
    "browserHash" = :nextBrowserHash
  WHERE ${IS_BOUND}
  RETURNING "clientId"`

const CLEAR_LINK = statement({ takes: { ...BINDING } })`
  UPDATE "Interaction" SET "progress" = "progress" - 'pendingLink'
  WHERE ${IS_BOUND}`

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

const STORE_ATTEMPT = statement({ takes: { ...BINDING, progress: 'jsonb' } })`
  UPDATE "Interaction" SET "progress" = "progress" || :progress || '{"isLed": true}'
  WHERE ${IS_BOUND}`

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
  takes: { ...BINDING, attemptId: 'text' },
  returns: { clientId: 'text' },
})`
  UPDATE "Interaction" SET "progress" = "progress" - 'provider'
  WHERE ${IS_BOUND}
    AND "progress"->'provider'->>'id' = :attemptId
  RETURNING "clientId"`

/** Removes an attempt, so that its answer is accepted once. False when it was removed before. */
export const claimProviderAttempt = async (
  db: Db,
  binding: InteractionBinding,
  attemptId: string,
): Promise<boolean> => (await db.one(CLAIM_ATTEMPT, { ...binding, attemptId })) !== null
