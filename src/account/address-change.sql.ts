import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'
import type { User } from '../generated/prisma/client.ts'
import {
  buildChangeLimitSql,
  buildCooldownSql,
  buildCountSentSql,
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

/** The budget of an address that is another user's, whose sign-ins do not share it. */
const TAKEN_BUDGET = 'taken'

const declareLockRequester = (channel: Channel) => statement({
  takes: { userId: 'text', key: 'text' },
  returns: {
    /** The address is the user's own already, and verified. */
    isOwn: 'boolean',
    locale: 'text?',
  },
})`
  SELECT "${CHANNEL_COLUMNS[channel].key}" IS NOT DISTINCT FROM :key AND "${CHANNEL_COLUMNS[channel].verified}" AS "isOwn", "locale"
  FROM "User" WHERE "tenantId" = :tenant AND "id" = :userId AND NOT "locked" FOR SHARE`
const LOCK_REQUESTER = { email: declareLockRequester('email'), sms: declareLockRequester('sms') }

/** The change that a user requests: to which address, and when. */
export type PendingAddressChange = { userId: string; channel: Channel; key: string; now: Date }

/** The user, who is not locked or changed until the transaction ends; null when locked or without such a user. */
export const lockChangeRequester = (
  db: Db,
  { channel, userId, key }: PendingAddressChange,
): Promise<RowOf<typeof LOCK_REQUESTER.email> | null> => db.one(LOCK_REQUESTER[channel], { userId, key })

const RESERVE_CHANGE = statement({
  takes: {
    userId: 'text',
    channel: 'text',
    key: 'text',
    shown: 'text',
    now: 'timestamptz',
    expiresAt: 'timestamptz',
  },
  returns: { userId: 'text' },
})`
  INSERT INTO "AddressChange" AS c ("tenantId", "userId", "channel", "address", "shown", "expiresAt", "sentAt", "sendCount", "sendWindowAt")
  VALUES (:tenant, :userId, :channel, :key, :shown, :expiresAt, :now, 1, :now)
  ON CONFLICT ("tenantId", "userId", "channel") DO UPDATE SET
    "address" = EXCLUDED."address", "shown" = EXCLUDED."shown", "attempts" = 0, "expiresAt" = EXCLUDED."expiresAt",
    "sentAt" = EXCLUDED."sentAt", ${buildSendCountersSql('c', ':now')}
  WHERE NOT (${buildCooldownSql('c', ':now')} OR ${buildChangeLimitSql('c', ':now')})
  RETURNING "userId"`

/** A change as it is reserved, with the address as it was entered. */
export type NewAddressChange = PendingAddressChange & { shown: string; expiresAt: Date }

/**
 * Reserves the change of a user, which replaces an earlier one, so that requests at the same time wait for each other;
 * false when the user has requested too many. Lock the user first, and store a code afterwards.
 */
export const reserveAddressChange = async (db: Db, change: NewAddressChange): Promise<boolean> =>
  (await db.one(RESERVE_CHANGE, { ...change })) !== null

const SELECT_CHANGE_WAIT = statement({
  takes: { userId: 'text', channel: 'text', now: 'timestamptz' },
  returns: { waitUntil: 'timestamptz?' },
})`
  SELECT GREATEST(
    CASE WHEN ${buildCooldownSql('c', ':now')} THEN c."sentAt" + interval '${SEND_COOLDOWN_SECONDS} seconds' END,
    CASE WHEN ${buildChangeLimitSql('c', ':now')} THEN c."sendWindowAt" + interval '1 hour' END
  ) AS "waitUntil"
  FROM "AddressChange" c WHERE "tenantId" = :tenant AND "userId" = :userId AND "channel" = :channel`

/** Returns when the user can request a change again. */
export async function findChangeWaitEnd(
  db: Db,
  { userId, channel, now }: PendingAddressChange,
): Promise<Date> {
  const row = await db.one(SELECT_CHANGE_WAIT, { userId, channel, now })
  return row?.waitUntil ?? now
}

const declareCountCode = (channel: Channel) => statement({
  takes: { userId: 'text', address: 'text', channel: 'text', now: 'timestamptz' },
  returns: { budget: 'text', isLong: 'boolean' },
})`
  WITH asked AS (
    SELECT CASE WHEN EXISTS (SELECT FROM "User" WHERE "tenantId" = :tenant AND "${CHANNEL_COLUMNS[channel].key}" = :address AND "id" <> :userId)
      THEN '${TAKEN_BUDGET}' ELSE '${SHARED_BUDGET}' END AS "budget"
  )
  ${buildCountSentSql('p', 'asked."budget"', buildSendLimitSql('p', ':now'), 'FROM asked')}
  RETURNING "origin" AS "budget", ${buildShortLimitSql('p', ':now')} AS "isLong"`
const COUNT_CODE = { email: declareCountCode('email'), sms: declareCountCode('sms') }

/**
 * Counts a code in the budget of the new address, which it shares with sign-ins; null when that is used up. An address
 * of another user has a budget of its own, which the sign-ins of that user do not share.
 */
export async function countChangeCode(
  db: Db,
  { userId, channel, key: address, now }: PendingAddressChange,
): Promise<{ budget: string; isTaken: boolean; isLong: boolean } | null> {
  const row = await db.one(COUNT_CODE[channel], { userId, address, channel, now })
  return row && { ...row, isTaken: row.budget === TAKEN_BUDGET }
}

const STORE_CODE = statement({
  takes: {
    userId: 'text',
    channel: 'text',
    codeHash: 'bytea?',
    budget: 'text',
    isLong: 'boolean',
    events: 'jsonb',
  },
})`
  WITH stored AS (
    UPDATE "AddressChange" SET "codeHash" = :codeHash, "budget" = :budget, "isLong" = :isLong
    WHERE "tenantId" = :tenant AND "userId" = :userId AND "channel" = :channel RETURNING "userId"
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'stored' })})
  SELECT FROM stored`

type StoredCode = Pick<PendingAddressChange, 'userId' | 'channel'> & { codeHash: Buffer }

/** Stores the code of a reserved change with its events, or that there is none. */
export const storeChangeCode = (
  db: Db,
  { userId, channel }: PendingAddressChange,
  code: { codeHash: Buffer | null; budget: string; isLong: boolean },
  events: object[],
): Promise<void> => db.run(STORE_CODE, { userId, channel, ...code, events })

const WITHDRAW_CHANGE = statement({
  takes: { userId: 'text', channel: 'text', codeHash: 'bytea', events: 'jsonb' },
})`
  WITH withdrawn AS (
    UPDATE "AddressChange" SET "codeHash" = NULL, "sentAt" = "sentAt" - interval '${SEND_COOLDOWN_SECONDS} seconds'
    WHERE "tenantId" = :tenant AND "userId" = :userId AND "channel" = :channel AND "codeHash" = :codeHash RETURNING "userId"
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'withdrawn' })})
  SELECT FROM withdrawn`

/** Withdraws a code that could not be delivered: another can be requested at once. */
export const withdrawAddressChange = (
  db: Db,
  { userId, channel, codeHash }: StoredCode,
  event: object,
): Promise<void> => db.run(WITHDRAW_CHANGE, { userId, channel, codeHash, events: [event] })

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

/**
 * Counts a guess at a code, also against the budget of the address. Returns the hash to compare it with,
 * or null when no code can be guessed at. Commit it on its own.
 */
export async function countChangeAttempt(
  db: Db,
  { userId, channel, key, now }: PendingAddressChange,
): Promise<Buffer | null> {
  const row = await db.one(COUNT_ATTEMPT, { userId, channel, key, now })
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
  db: Db,
  { userId, channel, key, now }: PendingAddressChange,
  codeHash: Buffer,
): Promise<RedeemedAddressChange | null> => db.one(REDEEM_CHANGE, { userId, channel, key, now, codeHash })

const SELECT_PENDING_CHANGES = statement({
  takes: { userId: 'text', now: 'timestamptz' },
  returns: { channel: typed<Channel>('text'), shown: 'text' },
})`
  SELECT "channel", "shown" FROM "AddressChange"
  WHERE "tenantId" = :tenant AND "userId" = :userId AND "expiresAt" > :now`

/** The changes of a user's addresses that were requested in the last minutes, whether or not a code was sent. */
export const selectPendingChanges = (db: Db, userId: string, now: Date) =>
  db.many(SELECT_PENDING_CHANGES, { userId, now })
