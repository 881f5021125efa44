import type { Db } from '../database/handle.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import { buildSendLimitSql, buildShortLimitSql } from './passcode-budgets.sql.ts'
import type { Channel } from './passcodes.fields.ts'

const SELECT_LIMITS = statement({
  takes: { userId: 'text', now: 'timestamptz' },
  returns: {
    channel: typed<Channel>('text'),
    wrongGuesses: 'int',
    longCodesUntil: 'timestamptz?',
    sentCodes: 'int',
    codesAgainAt: 'timestamptz?',
  },
})`
  SELECT a."channel",
    CASE WHEN b."failureWindowAt" > :now - interval '1 day' THEN b."failureCount" ELSE 0 END AS "wrongGuesses",
    CASE WHEN ${buildShortLimitSql('b', ':now')} THEN b."failureWindowAt" + interval '1 day' END AS "longCodesUntil",
    CASE WHEN b."sendWindowAt" > :now - interval '1 hour' THEN b."sendCount" ELSE 0 END AS "sentCodes",
    CASE WHEN ${buildSendLimitSql('b', ':now')} THEN b."sendWindowAt" + interval '1 hour' END AS "codesAgainAt"
  FROM "User" u
    CROSS JOIN LATERAL (VALUES ('email', u."emailKey"), ('sms', u."phoneNumberKey")) a ("channel", "address")
    LEFT JOIN "Passcode" b ON b."tenantId" = :tenant AND b."address" = a."address" AND b."origin" = ''
  WHERE u."tenantId" = :tenant AND u."id" = :userId AND a."address" IS NOT NULL
  ORDER BY a."channel"`

export type SignInLimit = RowOf<typeof SELECT_LIMITS>

/** The shared budgets of the addresses of a user. */
export const selectSignInLimits = (db: Db, userId: string, now: Date): Promise<SignInLimit[]> =>
  db.many(SELECT_LIMITS, { userId, now })

const RESET_LIMITS = statement({ takes: { userId: 'text' } })`
  UPDATE "Passcode" p SET "failureCount" = 0, "sendCount" = 0
  FROM "User" u
  WHERE u."tenantId" = :tenant AND u."id" = :userId AND p."tenantId" = :tenant AND p."address" IN (u."emailKey", u."phoneNumberKey")`

/** Resets every budget of the addresses of a user: of networks and known browsers too. */
export const resetLimitCounters = (db: Db, userId: string): Promise<void> => db.run(RESET_LIMITS, { userId })
