import type { Db } from '../../database/handle.ts'
import { type RowOf, statement } from '../../database/statement.ts'

/**
 * Guesses at second factors of a user in a window, from one browser that has proven one before, or from all others
 * together. Only somebody who has given a first proof can guess.
 */
const MAX_GUESSES = 5
const WINDOW_MINUTES = 15

const IS_OVER = `g."windowAt" <= :now - interval '${WINDOW_MINUTES} minutes'`

const COUNT_GUESS = statement({
  takes: { userId: 'text', browser: 'text', now: 'timestamptz' },
  returns: { isAllowed: 'boolean', retryAt: 'timestamptz?' },
})`
  WITH counted AS (
    INSERT INTO "SecondFactorGuess" AS g ("tenantId", "userId", "browser", "count", "windowAt")
    VALUES (:tenant, :userId, :browser, 1, :now)
    ON CONFLICT ("tenantId", "userId", "browser") DO UPDATE SET
      "count" = CASE WHEN ${IS_OVER} THEN 1 ELSE g."count" + 1 END,
      "windowAt" = CASE WHEN ${IS_OVER} THEN :now ELSE g."windowAt" END
    WHERE ${IS_OVER} OR g."count" < ${MAX_GUESSES}
    RETURNING 1
  )
  SELECT EXISTS (SELECT FROM counted) AS "isAllowed", (
    SELECT "windowAt" + interval '${WINDOW_MINUTES} minutes' FROM "SecondFactorGuess"
    WHERE "tenantId" = :tenant AND "userId" = :userId AND "browser" = :browser
  ) AS "retryAt"`

/**
 * Counts a guess as a failure until it proves right; null if it is allowed, otherwise the time of the next one.
 * Commit it on its own, so that parallel guesses cannot exceed the limit.
 */
export async function countSecondFactorGuess(
  db: Db,
  guesser: { userId: string; browser: string },
  now: Date,
): Promise<Date | null> {
  const row = await db.one(COUNT_GUESS, { ...guesser, now })
  return row?.isAllowed ? null : (row?.retryAt ?? now)
}

const USE_RECOVERY_CODE = statement({
  takes: { userId: 'text', codeHash: 'bytea', now: 'timestamptz' },
  returns: { id: 'text', remaining: 'int' },
})`
  UPDATE "Credential" SET "codeHashes" = array_remove("codeHashes", :codeHash), "lastUsedAt" = :now
  WHERE "tenantId" = :tenant AND "userId" = :userId AND "type" = 'recovery-codes' AND :codeHash = ANY("codeHashes")
  RETURNING "id", cardinality("codeHashes") AS "remaining"`

/** Accepts a recovery code, once; null when the user has none with this hash. */
export const useRecoveryCode = (
  db: Db,
  code: { userId: string; codeHash: Buffer; now: Date },
): Promise<RowOf<typeof USE_RECOVERY_CODE> | null> => db.one(USE_RECOVERY_CODE, { ...code })
