import type { Db } from '../database/handle.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import type { User } from '../generated/prisma/client.ts'
import { buildStaleSql } from '../sessions/session-use.sql.ts'
import { toUserColumnList, toUserRow, USER_RETURNS } from '../sessions/sessions.sql.ts'
import {
  buildFailureCountersSql,
  buildShortLimitSql,
  buildSignsInSql,
  CHANNEL_COLUMNS,
  MAX_ATTEMPTS,
  MAX_SHORT_FAILURES,
} from './passcode-budgets.sql.ts'
import type { PasscodeOrigin } from './passcode-origin.ts'
import type { Channel } from './passcodes.fields.ts'

// The user is read for every address alike.
const buildCountAttemptSql = (channel: Channel) => statement({
  takes: { address: 'text', origin: 'text', budget: 'text', now: 'timestamptz' },
  returns: {
    /** The code to compare with; null when no code can be guessed at. */
    codeHash: 'bytea?',
    /** The user that the code was sent to; null for an unknown or locked address. */
    userId: 'text?',
    /** The code was sent to an address without a user, which may sign up. */
    isSignUp: 'boolean?',
    isLong: 'boolean?',
    /** Why no code can be guessed at; null when one can. */
    problem: typed<'expired' | 'exhausted' | null>('text?'),
    /** This guess has used up the budget of six-digit codes. */
    isLastShort: 'boolean',
    /** The user who has the address now, whether the user is locked, and the user's locale. */
    ownerId: 'text?',
    ownerLocked: 'boolean?',
    ownerLocale: 'text?',
  },
})`
  WITH code AS (
    SELECT * FROM "Passcode" WHERE "tenantId" = :tenant AND "address" = :address AND "origin" = :origin
  ), open_code AS MATERIALIZED (
    SELECT * FROM "Passcode" WHERE "tenantId" = :tenant AND "address" = :address AND "origin" = :origin
      AND "codeHash" IS NOT NULL AND "expiresAt" > :now AND "attempts" < ${MAX_ATTEMPTS}
    FOR NO KEY UPDATE
  ), spent AS (
    UPDATE "Passcode" b SET ${buildFailureCountersSql('b', ':now')} FROM open_code
    WHERE b."tenantId" = :tenant AND b."address" = :address AND b."origin" = :budget AND NOT open_code."isLong"
      AND NOT ${buildShortLimitSql('b', ':now')}
    RETURNING b."failureCount"
  ), counted AS (
    UPDATE "Passcode" p SET "attempts" = p."attempts" + 1 FROM open_code
    WHERE p."tenantId" = :tenant AND p."address" = :address AND p."origin" = :origin AND p."codeHash" = open_code."codeHash"
      AND p."expiresAt" > :now AND p."attempts" < ${MAX_ATTEMPTS} AND (open_code."isLong" OR EXISTS (SELECT FROM spent))
    RETURNING p."codeHash", p."userId", p."isSignUp", p."isLong"
  ), owner AS (
    SELECT "id", "locked", "locale" FROM "User" WHERE "tenantId" = :tenant AND "${CHANNEL_COLUMNS[channel].key}" = :address
  )
  SELECT counted."codeHash", counted."userId", counted."isSignUp", counted."isLong",
    CASE WHEN counted."codeHash" IS NOT NULL THEN NULL WHEN code."codeHash" IS NULL OR code."expiresAt" <= :now THEN 'expired' ELSE 'exhausted' END AS "problem",
    EXISTS (SELECT FROM spent WHERE "failureCount" = ${MAX_SHORT_FAILURES}) AS "isLastShort",
    owner."id" AS "ownerId", owner."locked" AS "ownerLocked", owner."locale" AS "ownerLocale"
  FROM (SELECT 1) one LEFT JOIN code ON true LEFT JOIN counted ON true LEFT JOIN owner ON true`
const COUNT_ATTEMPT = { email: buildCountAttemptSql('email'), sms: buildCountAttemptSql('sms') }

export type PasscodeAttempt = RowOf<typeof COUNT_ATTEMPT.email>

/** The code of an origin. */
type GuessedCode = Pick<PasscodeOrigin, 'origin' | 'budget'> & {
  channel: Channel
  key: string
  now: Date
}

/** Counts a guess as a failure until it proves right. Commit it on its own. */
export async function countPasscodeAttempt(
  db: Db,
  { channel, key, origin, budget, now }: GuessedCode,
): Promise<PasscodeAttempt> {
  const row = await db.one(COUNT_ATTEMPT[channel], { address: key, origin, budget, now })
  if (!row) throw new Error('a guess could not be counted')
  return row
}

// The user's row first, as in a lock of the user: the reverse order would deadlock. The row stays locked, so
// that the rest of the transaction is about a user who is not locked. The right guess does not count as a failure.
const buildRedeemCodeSql = (channel: Channel) => statement({
  takes: {
    userId: 'text',
    address: 'text',
    origin: 'text',
    budget: 'text',
    now: 'timestamptz',
    codeHash: 'bytea',
  },
  returns: USER_RETURNS,
})`
  WITH locked_user AS (
    UPDATE "User" SET "lastSeenAt" = CASE WHEN ${buildStaleSql('"lastSeenAt"', ':now')} THEN :now ELSE "lastSeenAt" END
    WHERE "tenantId" = :tenant AND "id" = :userId AND "${CHANNEL_COLUMNS[channel].key}" = :address AND NOT "locked" AND ${buildSignsInSql(channel)}
    RETURNING *
  ), redeemed AS (
    UPDATE "Passcode" p SET "codeHash" = NULL
    FROM locked_user
    WHERE p."tenantId" = :tenant AND p."address" = :address AND p."origin" = :origin
      AND (p."userId" = locked_user."id" OR p."isSignUp") AND p."codeHash" = :codeHash AND p."expiresAt" > :now
    RETURNING p."isLong"
  ), refunded AS (
    UPDATE "Passcode" b SET "failureCount" = GREATEST(b."failureCount" - 1, 0) FROM redeemed
    WHERE b."tenantId" = :tenant AND b."address" = :address AND b."origin" = :budget AND NOT redeemed."isLong"
  )
  SELECT ${toUserColumnList('locked_user')} FROM locked_user JOIN redeemed ON true`
const REDEEM_CODE = { email: buildRedeemCodeSql('email'), sms: buildRedeemCodeSql('sms') }

export type PasscodeRedemption = GuessedCode & { userId: string; codeHash: Buffer }

/**
 * Redeems a code and locks the user's row; null when it was redeemed before or the user can no longer sign
 * in.
 */
export async function redeemPasscode(
  db: Db,
  { channel, key, origin, budget, userId, codeHash, now }: PasscodeRedemption,
): Promise<User | null> {
  const values = { address: key, origin, budget, userId, codeHash, now }
  const row = await db.one(REDEEM_CODE[channel], values)
  return row ? toUserRow(row) : null
}

const REDEEM_SIGN_UP_CODE = statement({
  takes: { address: 'text', origin: 'text', budget: 'text', now: 'timestamptz', codeHash: 'bytea' },
  returns: { isLong: 'boolean' },
})`
  WITH redeemed AS (
    UPDATE "Passcode" SET "codeHash" = NULL
    WHERE "tenantId" = :tenant AND "address" = :address AND "origin" = :origin AND "isSignUp"
      AND "codeHash" = :codeHash AND "expiresAt" > :now
    RETURNING "isLong"
  ), refunded AS (
    UPDATE "Passcode" b SET "failureCount" = GREATEST(b."failureCount" - 1, 0) FROM redeemed
    WHERE b."tenantId" = :tenant AND b."address" = :address AND b."origin" = :budget AND NOT redeemed."isLong"
  )
  SELECT "isLong" FROM redeemed`

/** Redeems the code of an address without a user; false when it was redeemed before. */
export const redeemSignUpPasscode = async (
  db: Db,
  { key, origin, budget, codeHash, now }: Omit<PasscodeRedemption, 'userId' | 'channel'>,
): Promise<boolean> =>
  (await db.one(REDEEM_SIGN_UP_CODE, { address: key, origin, budget, codeHash, now })) !== null
