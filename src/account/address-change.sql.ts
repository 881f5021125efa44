import { storedColumns } from '../database/columns.ts'
import type { Sql } from '../database/db.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'
import type { User } from '../generated/prisma/client.ts'
import {
  buildChangeLimitSql,
  buildCooldownSql,
  buildFailureCountersSql,
  buildSendCountersSql,
  buildSendLimitSql,
  buildShortLimitSql,
  MAX_ATTEMPTS,
  SEND_COOLDOWN_SECONDS,
  SHARED_BUDGET,
} from '../passcodes/passcode-budgets.sql.ts'
import type { Channel } from '../passcodes/passcodes.fields.ts'

const CHANNEL_COLUMNS = {
  email: { key: 'emailKey', verified: 'emailVerified' },
  sms: { key: 'phoneNumberKey', verified: 'phoneNumberVerified' },
} as const satisfies Record<Channel, Record<string, keyof User>>

const buildBlockedSql = (row: string) =>
  `(${buildCooldownSql(row, ':now')} OR ${buildChangeLimitSql(row, ':now')})`

/** The budget of an address that is another user's, whose sign-ins do not share it. */
const TAKEN_BUDGET = 'taken'

// A user learns only of the limits on their own requests. The address has a budget too, which it shares with
// sign-ins ("Passcode"); when its messages are used up, the response is the same and no code is stored; when its
// guesses are used up, the code has ten digits. An address of another user has as many rows and events, so that
// response times do not reveal it: a budget of its own, and a hash that no code has. Only a pending change is counted:
// of requests at the same time, one. Rows are locked in the order user, change, address, here and below.
const declareReserveChange = (channel: Channel) => statement({
  takes: {
    userId: 'text',
    channel: 'text',
    key: 'text',
    shown: 'text',
    codeHash: 'bytea',
    longHash: 'bytea',
    now: 'timestamptz',
    expiresAt: 'timestamptz',
    sent: 'jsonb',
    withheld: 'jsonb',
  },
  returns: {
    /** The address is the user's own already, and verified. */
    isOwn: 'boolean',
    /** The change is pending; false when the user has requested too many. */
    isPending: 'boolean',
    /** A code is to be sent: the address is free and below its limits. */
    hasCode: 'boolean',
    /** The code of ten digits was stored. */
    isLong: 'boolean',
    /** When the user can request again, if that is why the change is not pending. */
    waitUntil: 'timestamptz?',
    /** The locale of the user. */
    locale: 'text?',
  },
})`
  WITH locked_user AS MATERIALIZED (
    SELECT "id", "locale", "${CHANNEL_COLUMNS[channel].key}" = :key AND "${CHANNEL_COLUMNS[channel].verified}" AS "isOwn" FROM "User"
    WHERE "tenantId" = :tenant AND "id" = :userId AND NOT "locked" FOR SHARE
  ), state AS MATERIALIZED (
    SELECT c.* FROM locked_user u JOIN "AddressChange" c ON c."tenantId" = :tenant AND c."userId" = u."id" AND c."channel" = :channel
    FOR NO KEY UPDATE OF c
  ), requester AS MATERIALIZED (
    SELECT u."id" FROM locked_user u LEFT JOIN state ON true
    WHERE u."isOwn" IS NOT TRUE AND (state."userId" IS NULL OR NOT ${buildBlockedSql('state')})
  ), asked AS MATERIALIZED (
    SELECT CASE WHEN EXISTS (SELECT FROM "User" WHERE "tenantId" = :tenant AND "${CHANNEL_COLUMNS[channel].key}" = :key AND "id" <> :userId)
      THEN '${TAKEN_BUDGET}' ELSE '${SHARED_BUDGET}' END AS "budget"
    FROM requester
  ), used AS MATERIALIZED (
    SELECT p.* FROM asked JOIN "Passcode" p ON p."tenantId" = :tenant AND p."address" = :key AND p."origin" = asked."budget"
    FOR NO KEY UPDATE OF p
  ), code AS (
    SELECT asked."budget", limited."isLong", CASE WHEN limited."isLong" THEN :longHash ELSE :codeHash END AS "hash"
    FROM asked LEFT JOIN used ON true CROSS JOIN LATERAL (SELECT COALESCE(${buildShortLimitSql('used', ':now')}, false) AS "isLong") limited
    WHERE used."address" IS NULL OR NOT ${buildSendLimitSql('used', ':now')}
  ), pending AS (
    INSERT INTO "AddressChange" AS c ("tenantId", "userId", "channel", "address", "shown", "codeHash", "budget", "isLong", "expiresAt", "sentAt", "sendCount", "sendWindowAt")
    SELECT :tenant, requester."id", :channel, :key, :shown,
      CASE WHEN code."budget" = '${TAKEN_BUDGET}' THEN sha256(code."hash") ELSE code."hash" END,
      COALESCE(code."budget", '${SHARED_BUDGET}'), COALESCE(code."isLong", false), :expiresAt, :now, 1, :now
    FROM requester LEFT JOIN code ON true
    ON CONFLICT ("tenantId", "userId", "channel") DO UPDATE SET
      "address" = EXCLUDED."address", "shown" = EXCLUDED."shown", "codeHash" = EXCLUDED."codeHash", "budget" = EXCLUDED."budget",
      "isLong" = EXCLUDED."isLong", "attempts" = 0, "expiresAt" = EXCLUDED."expiresAt", "sentAt" = EXCLUDED."sentAt", ${buildSendCountersSql('c', ':now')}
    WHERE NOT ${buildBlockedSql('c')}
    RETURNING c."codeHash", c."budget", c."isLong"
  ), counted AS (
    INSERT INTO "Passcode" AS p ("tenantId", "address", "origin", "channel", "expiresAt", "sentAt", "sendCount", "sendWindowAt", "failureWindowAt")
    SELECT :tenant, :key, "budget", :channel, :now, :now - interval '${SEND_COOLDOWN_SECONDS} seconds', 1, :now, :now
    FROM pending WHERE "codeHash" IS NOT NULL
    ON CONFLICT ("tenantId", "address", "origin") DO UPDATE SET ${buildSendCountersSql('p', ':now')}
    WHERE NOT ${buildSendLimitSql('p', ':now')}
    RETURNING p."origin" AS "budget"
  ), sent_code AS (
    SELECT FROM counted WHERE "budget" = '${SHARED_BUDGET}'
  ), withheld_code AS (
    SELECT FROM counted WHERE "budget" = '${TAKEN_BUDGET}'
  ), sent_log AS (${buildInsertEventsSql(':sent', { from: 'sent_code' })}
  ), withheld_log AS (${buildInsertEventsSql(':withheld', { from: 'withheld_code' })})
  SELECT COALESCE(u."isOwn", false) AS "isOwn",
    EXISTS (SELECT FROM pending) AS "isPending", EXISTS (SELECT FROM sent_code) AS "hasCode",
    EXISTS (SELECT FROM pending WHERE "isLong") AS "isLong",
    GREATEST(
      CASE WHEN ${buildCooldownSql('state', ':now')} THEN state."sentAt" + interval '${SEND_COOLDOWN_SECONDS} seconds' END,
      CASE WHEN ${buildChangeLimitSql('state', ':now')} THEN state."sendWindowAt" + interval '1 hour' END
    ) AS "waitUntil", u."locale"
  FROM locked_user u LEFT JOIN state ON true`
const RESERVE_CHANGE = { email: declareReserveChange('email'), sms: declareReserveChange('sms') }

export type ReservedAddressChange = RowOf<typeof RESERVE_CHANGE.email>

export type NewAddressChange = {
  userId: string
  channel: Channel
  key: string
  shown: string
  codeHash: Buffer
  /** The hash of the code of ten digits. */
  longHash: Buffer
  now: Date
  expiresAt: Date
}

/**
 * Stores a pending change of an address, which replaces an earlier one, with the event that the code was sent,
 * or withheld because the address is another user's: one statement. Null when the user is locked or does not
 * exist.
 */
export const reserveAddressChange = (
  sql: Sql,
  tenant: string,
  change: NewAddressChange,
  events: { sent: object; withheld: object },
): Promise<ReservedAddressChange | null> =>
  RESERVE_CHANGE[change.channel].first(sql, {
    tenant,
    ...change,
    sent: [events.sent],
    withheld: [events.withheld],
  })

const WITHDRAW_CHANGE = statement({
  takes: { userId: 'text', channel: 'text', codeHash: 'bytea', events: 'jsonb' },
})`
  WITH withdrawn AS (
    UPDATE "AddressChange" SET "codeHash" = NULL, "sentAt" = "sentAt" - interval '${SEND_COOLDOWN_SECONDS} seconds'
    WHERE "tenantId" = :tenant AND "userId" = :userId AND "channel" = :channel AND "codeHash" = :codeHash RETURNING "userId"
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'withdrawn' })})
  SELECT FROM withdrawn`

type StoredCode = Pick<NewAddressChange, 'userId' | 'channel' | 'codeHash'>

/** Withdraws a code that could not be delivered: another can be requested at once. */
export const withdrawAddressChange = (
  sql: Sql,
  tenant: string,
  { userId, channel, codeHash }: StoredCode,
  event: object,
): Promise<void> => WITHDRAW_CHANGE.run(sql, { tenant, userId, channel, codeHash, events: [event] })

const COUNT_ATTEMPT = statement({
  takes: { userId: 'text', channel: 'text', key: 'text', now: 'timestamptz' },
  returns: { codeHash: 'bytea' },
})`
  WITH counted AS (
    UPDATE "AddressChange" SET "attempts" = "attempts" + 1
    WHERE "tenantId" = :tenant AND "userId" = :userId AND "channel" = :channel AND "address" = :key AND "codeHash" IS NOT NULL
      AND "expiresAt" > :now AND "attempts" < ${MAX_ATTEMPTS}
    RETURNING "address", "codeHash", "budget", "isLong"
  ), failed AS (
    UPDATE "Passcode" p SET ${buildFailureCountersSql('p', ':now')}
    FROM counted WHERE p."tenantId" = :tenant AND p."address" = counted."address" AND p."origin" = counted."budget" AND NOT counted."isLong"
      AND NOT ${buildShortLimitSql('p', ':now')}
    RETURNING p."address"
  )
  SELECT counted."codeHash" FROM counted WHERE counted."isLong" OR EXISTS (SELECT FROM failed)`

export type PendingAddressChange = { userId: string; channel: Channel; key: string; now: Date }

/**
 * Counts a guess at a code, also against the budget of the address. Returns the hash to compare it with,
 * or null when no code can be guessed at. Commit it on its own.
 */
export async function countChangeAttempt(
  sql: Sql,
  tenant: string,
  { userId, channel, key, now }: PendingAddressChange,
): Promise<Buffer | null> {
  const row = await COUNT_ATTEMPT.first(sql, { tenant, userId, channel, key, now })
  return row?.codeHash ?? null
}

const USER_COLUMNS = [
  'id',
  'email',
  'emailKey',
  'emailVerified',
  'phoneNumber',
  'phoneNumberKey',
  'phoneNumberVerified',
] as const

const REDEEM_CHANGE = statement({
  takes: { userId: 'text', channel: 'text', key: 'text', now: 'timestamptz', codeHash: 'bytea' },
  returns: { ...storedColumns('User', USER_COLUMNS), shown: 'text' },
})`
  WITH locked_user AS MATERIALIZED (
    SELECT ${USER_COLUMNS.map((name) => `"${name}"`).join(', ')} FROM "User"
    WHERE "tenantId" = :tenant AND "id" = :userId AND NOT "locked" FOR NO KEY UPDATE
  ), redeemed AS (
    UPDATE "AddressChange" c SET "codeHash" = NULL FROM locked_user
    WHERE c."tenantId" = :tenant AND c."userId" = locked_user."id" AND c."channel" = :channel AND c."address" = :key
      AND c."codeHash" = :codeHash AND c."expiresAt" > :now
    RETURNING c."address", c."shown", c."budget", c."isLong"
  ), refunded AS (
    UPDATE "Passcode" p SET "failureCount" = GREATEST(p."failureCount" - 1, 0) FROM redeemed
    WHERE p."tenantId" = :tenant AND p."address" = redeemed."address" AND p."origin" = redeemed."budget" AND NOT redeemed."isLong"
  )
  SELECT locked_user.*, redeemed."shown" FROM locked_user JOIN redeemed ON true`

/** The user before the change, and the new address as the user entered it. */
export type RedeemedAddressChange = RowOf<typeof REDEEM_CHANGE>

/**
 * Redeems a code and locks the user's row; null when it was redeemed before or the user is locked or does not
 * exist.
 */
export const redeemAddressChange = (
  sql: Sql,
  tenant: string,
  { userId, channel, key, now }: PendingAddressChange,
  codeHash: Buffer,
): Promise<RedeemedAddressChange | null> =>
  REDEEM_CHANGE.first(sql, { tenant, userId, channel, key, now, codeHash })

const SELECT_PENDING_CHANGES = statement({
  takes: { userId: 'text', now: 'timestamptz' },
  returns: { channel: typed<Channel>('text'), shown: 'text' },
})`
  SELECT "channel", "shown" FROM "AddressChange"
  WHERE "tenantId" = :tenant AND "userId" = :userId AND "expiresAt" > :now`

/** The changes of a user's addresses that were requested in the last minutes, whether or not a code was sent. */
export const selectPendingChanges = (
  sql: Sql,
  tenant: string,
  userId: string,
  now: Date,
): Promise<RowOf<typeof SELECT_PENDING_CHANGES>[]> => SELECT_PENDING_CHANGES.all(sql, { tenant, userId, now })
