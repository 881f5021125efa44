import type { Db } from '../../database/handle.ts'
import { statement } from '../../database/statement.ts'

const SELECT_WAITING = statement({
  takes: { tokenHash: 'bytea', now: 'timestamptz' },
  returns: { usableAt: 'timestamptz' },
})`
  SELECT "usableAt" FROM "EnrollmentToken"
  WHERE "tenantId" = :tenant AND "tokenHash" = :tokenHash AND "usedAt" IS NULL AND "usableAt" > :now`

/** When a waiting token starts to work; null for any other token. */
export const selectWaitingEnrollment = async (db: Db, tokenHash: Buffer, now: Date): Promise<Date | null> =>
  (await db.one(SELECT_WAITING, { tokenHash, now }))?.usableAt ?? null

const IS_CANCELABLE = `"tenantId" = :tenant AND "cancelHash" = :cancelHash AND "usedAt" IS NULL AND "expiresAt" > :now`

const SELECT_CANCELABLE = statement({
  takes: { cancelHash: 'bytea', now: 'timestamptz' },
  returns: { userId: 'text' },
})`
  SELECT "userId" FROM "EnrollmentToken" WHERE ${IS_CANCELABLE}`

/** The user of a link that can be canceled with this token; null without one. */
export const selectCancelableEnrollment = async (
  db: Db,
  cancelHash: Buffer,
  now: Date,
): Promise<string | null> => (await db.one(SELECT_CANCELABLE, { cancelHash, now }))?.userId ?? null

const CANCEL_ENROLLMENT = statement({
  takes: { cancelHash: 'bytea', now: 'timestamptz' },
  returns: { userId: 'text' },
})`
  UPDATE "EnrollmentToken" SET "usedAt" = :now, "challenge" = NULL WHERE ${IS_CANCELABLE} RETURNING "userId"`

/** Cancels a link; the id of its user, or null when it was used, canceled or replaced before. */
export const cancelEnrollmentToken = async (db: Db, cancelHash: Buffer, now: Date): Promise<string | null> =>
  (await db.one(CANCEL_ENROLLMENT, { cancelHash, now }))?.userId ?? null
