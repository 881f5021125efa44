import type { Db } from '../database/handle.ts'
import { type RowOf, statement } from '../database/statement.ts'

export type IdempotencyKeyRow = RowOf<typeof CLAIM>

/** A claim is later than the one that it replaces, so that `createdAt` identifies it. */
export const LATER_CLAIM = `GREATEST(now(), k."createdAt" + interval '1 millisecond')`

// An expired key is free. The second SELECT does not see a claim that a concurrent call has just committed.
const CLAIM = statement({
  takes: { keyHash: 'bytea', requestHash: 'bytea', seconds: 'int', isReplaced: 'boolean' },
  returns: {
    /** True when this call claimed the key; `createdAt` identifies the claim. */
    isClaimed: 'boolean',
    requestHash: 'bytea',
    /** The sealed response; null while the first call is running. */
    answer: 'text?',
    createdAt: 'timestamptz',
  },
})`
  WITH claimed AS (
    INSERT INTO "IdempotencyKey" AS k ("tenantId", "keyHash", "requestHash", "expiresAt")
    VALUES (:tenant, :keyHash, :requestHash, now() + make_interval(secs => :seconds))
    ON CONFLICT ("tenantId", "keyHash") DO UPDATE
    SET "requestHash" = :requestHash, "answer" = NULL, "expiresAt" = EXCLUDED."expiresAt", "createdAt" = ${LATER_CLAIM}
    WHERE k."expiresAt" <= now() OR (:isReplaced AND k."requestHash" <> :requestHash)
    RETURNING "requestHash", "answer", "createdAt"
  )
  SELECT true AS "isClaimed", * FROM claimed
  UNION ALL
  SELECT false, "requestHash", "answer", "createdAt" FROM "IdempotencyKey"
  WHERE "tenantId" = :tenant AND "keyHash" = :keyHash AND NOT EXISTS (SELECT FROM claimed)`

/**
 * Claims a key for `seconds` if it is free, and returns its row. `isReplaced`: a key of another request is free. Null when
 * a concurrent call changed or deleted the key.
 */
export const claimIdempotencyKey = (
  db: Db,
  claim: { keyHash: Buffer; requestHash: Buffer; seconds: number; isReplaced: boolean },
): Promise<IdempotencyKeyRow | null> => db.one(CLAIM, { ...claim })

const SELECT_ANSWER = statement({
  takes: { keyHash: 'bytea', requestHash: 'bytea' },
  returns: { answer: 'text?' },
})`
  SELECT "answer" FROM "IdempotencyKey"
  WHERE "tenantId" = :tenant AND "keyHash" = :keyHash AND "requestHash" = :requestHash AND "expiresAt" > now()`

/** The sealed response to a request, null while it is running; null instead of a row without such a request. */
export const selectIdempotentAnswer = (db: Db, keyHash: Buffer, requestHash: Buffer) =>
  db.one(SELECT_ANSWER, { keyHash, requestHash })

// A call that outlives its claim does not match the claim of another call.
const OWN_CLAIM = `"tenantId" = :tenant AND "keyHash" = :keyHash AND "createdAt" = :createdAt`

const STORE_RESPONSE = statement({
  takes: { keyHash: 'bytea', createdAt: 'timestamptz', answer: 'text', seconds: 'int' },
})`
  UPDATE "IdempotencyKey" SET "answer" = :answer, "expiresAt" = now() + make_interval(secs => :seconds)
  WHERE ${OWN_CLAIM}`

/** Stores the sealed response for `seconds`. */
export const storeIdempotentResponse = (
  db: Db,
  { keyHash, createdAt }: { keyHash: Buffer; createdAt: Date },
  answer: string,
  seconds: number,
): Promise<void> => db.run(STORE_RESPONSE, { keyHash, createdAt, answer, seconds })

const RELEASE_KEY = statement({ takes: { keyHash: 'bytea', createdAt: 'timestamptz' } })`
  DELETE FROM "IdempotencyKey" WHERE ${OWN_CLAIM}`

/** Deletes a claim, so that the key is free. */
export const releaseIdempotencyKey = (
  db: Db,
  { keyHash, createdAt }: { keyHash: Buffer; createdAt: Date },
): Promise<void> => db.run(RELEASE_KEY, { keyHash, createdAt })
