import type { Db } from '../database/handle.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import type { User } from '../generated/prisma/client.ts'
import type { Channel } from './passcodes.fields.ts'

/** Columns of User that have a channel's addresses, and the flag of the other channel. */
export const CHANNEL_COLUMNS = {
  email: { shown: 'email', key: 'emailKey', verified: 'emailVerified', otherVerified: 'phoneNumberVerified' },
  sms: {
    shown: 'phoneNumber',
    key: 'phoneNumberKey',
    verified: 'phoneNumberVerified',
    otherVerified: 'emailVerified',
  },
} as const satisfies Record<Channel, Record<string, keyof User>>

/** An unverified address of a user who has a verified one never signs in: it may be another person's. */
export const buildSignsInSql = (channel: Channel): string =>
  `("${CHANNEL_COLUMNS[channel].verified}" OR NOT "${CHANNEL_COLUMNS[channel].otherVerified}")`

/** Seconds between two codes to an address that one origin requests. */
export const SEND_COOLDOWN_SECONDS = 30
/** Codes to an address in an hour, of one budget. */
const MAX_SENDS_PER_HOUR = 20
/** Codes to an address in an hour that one network requests: it cannot use up the budget of the others. */
const MAX_NETWORK_SENDS_PER_HOUR = 10
/** Requested address changes of one user in an hour. */
const MAX_CHANGES_PER_HOUR = 10
/**
 * Wrong guesses at codes of six digits within 24 hours, of one budget: 9 in a million. Codes of ten digits
 * follow, at which guesses are not counted: 20 codes an hour have 2400 guesses a day, 1 in 4 million.
 */
export const MAX_SHORT_FAILURES = 9
/** Guesses at one code. */
export const MAX_ATTEMPTS = 5

/** The budget of an address that all share except browsers in which the address signed in before. */
export const SHARED_BUDGET = ''

export const buildChangeLimitSql = (row: string, now: string) =>
  `(${row}."sendCount" >= ${MAX_CHANGES_PER_HOUR} AND ${row}."sendWindowAt" > ${now} - interval '1 hour')`
export const buildNetworkLimitSql = (row: string, now: string) =>
  `(${row}."sendCount" >= ${MAX_NETWORK_SENDS_PER_HOUR} AND ${row}."sendWindowAt" > ${now} - interval '1 hour')`
export const buildSendLimitSql = (row: string, now: string) =>
  `(${row}."sendCount" >= ${MAX_SENDS_PER_HOUR} AND ${row}."sendWindowAt" > ${now} - interval '1 hour')`
/** A time in the future is of a clock that was set back since: it must not make anyone wait for it. */
export const buildCooldownSql = (row: string, now: string) =>
  `(${row}."sentAt" > ${now} - interval '${SEND_COOLDOWN_SECONDS} seconds' AND ${row}."sentAt" < ${now} + interval '${SEND_COOLDOWN_SECONDS} seconds')`
/** No code of six digits may be guessed at. It ends a day after the last of the guesses. */
export const buildShortLimitSql = (row: string, now: string) =>
  `(${row}."failureCount" >= ${MAX_SHORT_FAILURES} AND ${row}."failureWindowAt" > ${now} - interval '1 day')`

/** Assignments that count a code that is sent. */
export const buildSendCountersSql = (row: string, now: string): string => `
  "sendCount" = CASE WHEN ${row}."sendWindowAt" > ${now} - interval '1 hour' THEN ${row}."sendCount" + 1 ELSE 1 END,
  "sendWindowAt" = CASE WHEN ${row}."sendWindowAt" > ${now} - interval '1 hour' THEN ${row}."sendWindowAt" ELSE ${now} END`
/** Assignments that count a guess at a code of six digits. */
export const buildFailureCountersSql = (row: string, now: string): string => `
  "failureCount" = CASE WHEN ${row}."failureWindowAt" > ${now} - interval '1 day' THEN ${row}."failureCount" + 1 ELSE 1 END,
  "failureWindowAt" = ${now}`

/** The columns of a row that counts, or that waits for a code; `source` may have conditions. It has no cooldown. */
const buildRowSql = (origin: string, sendCount: number, source: string): string => `
    ("tenantId", "address", "origin", "channel", "expiresAt", "sentAt", "sendCount", "sendWindowAt", "failureWindowAt")
    SELECT :tenant, :address, ${origin}, :channel, :now, :now - interval '${SEND_COOLDOWN_SECONDS} seconds', ${sendCount}, :now, :now ${source}
    ON CONFLICT ("tenantId", "address", "origin") DO UPDATE SET`

/** Locks the row of an origin until the transaction ends; it is inserted if there is none. */
export const buildLockRowSql = (row: string, origin: string): string =>
  `INSERT INTO "Passcode" AS ${row} ${buildRowSql(origin, 0, '')} "channel" = EXCLUDED."channel"`
/** Counts a code that is sent in the row of an origin, unless `limit` holds there. */
export const buildCountSentSql = (row: string, origin: string, limit: string, source: string): string =>
  `INSERT INTO "Passcode" AS ${row} ${buildRowSql(origin, 1, source)} ${buildSendCountersSql(row, ':now')} WHERE NOT ${limit}`

const SELECT_LIMITS = statement({
  takes: { userIds: 'text[]', now: 'timestamptz' },
  returns: {
    userId: 'text',
    channel: typed<Channel>('text'),
    wrongGuesses: 'int',
    longCodesUntil: 'timestamptz?',
    sentCodes: 'int',
    codesAgainAt: 'timestamptz?',
  },
})`
  SELECT u."id" AS "userId", a."channel",
    CASE WHEN b."failureWindowAt" > :now - interval '1 day' THEN b."failureCount" ELSE 0 END AS "wrongGuesses",
    CASE WHEN ${buildShortLimitSql('b', ':now')} THEN b."failureWindowAt" + interval '1 day' END AS "longCodesUntil",
    CASE WHEN b."sendWindowAt" > :now - interval '1 hour' THEN b."sendCount" ELSE 0 END AS "sentCodes",
    CASE WHEN ${buildSendLimitSql('b', ':now')} THEN b."sendWindowAt" + interval '1 hour' END AS "codesAgainAt"
  FROM "User" u
    CROSS JOIN LATERAL (VALUES ('email', u."emailKey"), ('sms', u."phoneNumberKey")) a ("channel", "address")
    LEFT JOIN "Passcode" b ON b."tenantId" = :tenant AND b."address" = a."address" AND b."origin" = ''
  WHERE u."tenantId" = :tenant AND u."id" = ANY(:userIds) AND a."address" IS NOT NULL
  ORDER BY a."channel"`

type SignInLimitRow = RowOf<typeof SELECT_LIMITS>
export type SignInLimit = Omit<SignInLimitRow, 'userId'>

/** The shared budgets of the addresses of users. */
export const selectSignInLimits = (db: Db, userIds: string[], now: Date): Promise<SignInLimitRow[]> =>
  db.many(SELECT_LIMITS, { userIds, now })

const RESET_LIMITS = statement({ takes: { userId: 'text' } })`
  UPDATE "Passcode" p SET "failureCount" = 0, "sendCount" = 0
  FROM "User" u
  WHERE u."tenantId" = :tenant AND u."id" = :userId AND p."tenantId" = :tenant AND p."address" IN (u."emailKey", u."phoneNumberKey")`

/** Resets every budget of the addresses of a user: of networks and known browsers too. */
export const resetLimitCounters = (db: Db, userId: string): Promise<void> => db.run(RESET_LIMITS, { userId })
