import type { Sql } from '../db.ts'
import { insertEventsSql } from '../events.sql.ts'
import type { Passcode, User } from '../generated/prisma/client.ts'
import { isStale } from '../sessions/session-use.sql.ts'
import { userColumns, userOf } from '../sessions/sessions.sql.ts'
import type { Channel } from './passcodes.fields.ts'

/** Columns of User that a channel's addresses stand in, and the flag of the other channel. */
const COLUMNS = {
  email: { shown: 'email', key: 'emailKey', verified: 'emailVerified', otherVerified: 'phoneNumberVerified' },
  sms: {
    shown: 'phoneNumber',
    key: 'phoneNumberKey',
    verified: 'phoneNumberVerified',
    otherVerified: 'emailVerified',
  },
} as const satisfies Record<Channel, Record<string, keyof User>>

/** An unverified address of a user who has a verified one might be anybody's: it never signs in. */
const signsIn = (channel: Channel): string =>
  `("${COLUMNS[channel].verified}" OR NOT "${COLUMNS[channel].otherVerified}")`

/** Seconds between two codes to an address. */
export const SEND_COOLDOWN_SECONDS = 30
/** Codes to an address in an hour. */
const SENDS_AN_HOUR = 10
/** Wrong guesses at an address in a day, whatever number of codes it was sent: 30 in a million. */
const FAILURES_A_DAY = 30
/** Guesses at one code. */
export const MAX_ATTEMPTS = 5

export const sendsUsedUp = (p: string, now: string) =>
  `(${p}."sendCount" >= ${SENDS_AN_HOUR} AND ${p}."sendWindowAt" > ${now}::timestamptz - interval '1 hour')`
export const failuresUsedUp = (p: string, now: string) =>
  `(${p}."failureCount" >= ${FAILURES_A_DAY} AND ${p}."failureWindowAt" > ${now}::timestamptz - interval '1 day')`
export const coolsDown = (p: string, now: string) =>
  `${p}."sentAt" > ${now}::timestamptz - interval '${SEND_COOLDOWN_SECONDS} seconds'`
const isBlocked = (p: string, now: string) =>
  `(${coolsDown(p, now)} OR ${sendsUsedUp(p, now)} OR ${failuresUsedUp(p, now)})`

// Finds or creates the user, and takes a place in the address's budget together with the new code: whoever comes at
// the same time waits for the row and finds the budget spent. FOR SHARE lets a lock of the user wait for this or this
// for the lock. What is not in the budget creates nobody.
const reserveCode = (channel: Channel): string => `
  WITH state AS (
    SELECT p.*, ${isBlocked('p', '$3')} AS "blocked" FROM "Passcode" p WHERE "tenantId" = $1 AND "address" = $2
  ), person AS MATERIALIZED (
    SELECT "id", "locked", ${signsIn(channel)} AS "signsIn" FROM "User"
    WHERE "tenantId" = $1 AND "${COLUMNS[channel].key}" = $2 FOR SHARE
  ), created AS (
    INSERT INTO "User" ("tenantId", "id", "${COLUMNS[channel].shown}", "${COLUMNS[channel].key}", "updatedAt", "createdAt")
    SELECT $1, $7, $8, $2, $3::timestamptz, $3::timestamptz
    WHERE $9::boolean AND NOT EXISTS (SELECT FROM person) AND NOT EXISTS (SELECT FROM state WHERE "blocked")
    ON CONFLICT DO NOTHING RETURNING "id"
  ), target AS (
    SELECT "id", "locked", "signsIn" FROM person UNION ALL SELECT "id", false, true FROM created
  ), recipient AS (
    SELECT "id" FROM target WHERE NOT "locked" AND "signsIn"
    UNION ALL SELECT NULL WHERE $10::boolean AND NOT EXISTS (SELECT FROM target WHERE NOT "locked" AND "signsIn")
  ), reserved AS (
    INSERT INTO "Passcode" AS p ("tenantId", "address", "channel", "userId", "codeHash", "attempts", "expiresAt", "sentAt", "sendCount", "sendWindowAt", "failureWindowAt")
    SELECT $1, $2, $4, "id", $5::bytea, 0, $6::timestamptz, $3::timestamptz, 1, $3::timestamptz, $3::timestamptz FROM recipient
    ON CONFLICT ("tenantId", "address") DO UPDATE SET
      "channel" = EXCLUDED."channel", "userId" = EXCLUDED."userId", "codeHash" = EXCLUDED."codeHash", "attempts" = 0,
      "expiresAt" = EXCLUDED."expiresAt", "sentAt" = EXCLUDED."sentAt",
      "sendCount" = CASE WHEN p."sendWindowAt" > $3::timestamptz - interval '1 hour' THEN p."sendCount" + 1 ELSE 1 END,
      "sendWindowAt" = CASE WHEN p."sendWindowAt" > $3::timestamptz - interval '1 hour' THEN p."sendWindowAt" ELSE $3::timestamptz END
    WHERE NOT ${isBlocked('p', '$3')}
    RETURNING "userId"
  ), told_created AS (${insertEventsSql('$11', { from: 'created', columns: { userId: 'created."id"' } })}
  ), told_sent AS (${insertEventsSql('$12', { from: '(SELECT * FROM reserved WHERE "userId" IS NOT NULL) r', columns: { userId: 'r."userId"' } })}
  )
  SELECT target."id" AS "userId", target."locked", target."signsIn",
    EXISTS (SELECT FROM created) AS "isCreated", EXISTS (SELECT FROM reserved) AS "isReserved",
    GREATEST(
      CASE WHEN ${coolsDown('state', '$3')} THEN state."sentAt" + interval '${SEND_COOLDOWN_SECONDS} seconds' END,
      CASE WHEN ${sendsUsedUp('state', '$3')} THEN state."sendWindowAt" + interval '1 hour' END,
      CASE WHEN ${failuresUsedUp('state', '$3')} THEN state."failureWindowAt" + interval '1 day' END
    ) AS "waitUntil"
  FROM (SELECT 1) one LEFT JOIN target ON true LEFT JOIN state ON true`
const RESERVE_CODE = { email: reserveCode('email'), sms: reserveCode('sms') }

export type Reservation = {
  /** Null: nobody has the address. */
  userId: string | null
  locked: boolean | null
  /** False: an unverified address of a user who has a verified one. */
  signsIn: boolean | null
  isCreated: boolean
  /** The code was stored. Also with nobody to send it to, when `keepUnknown` was asked. */
  isReserved: boolean
  /** When the address may be sent a code again, if that is why it was not stored. */
  waitUntil: Date | null
}

export type NewCode = {
  channel: Channel
  key: string
  shown: string
  codeHash: Buffer
  now: Date
  expiresAt: Date
  /** Id of the user to create when the address is unknown; null: nobody is created. */
  newUserId: string | null
  /** Go through the same motions for an unknown or locked address, so that nobody can tell by the time. */
  keepUnknown: boolean
}

/** Stores a new code for an address, with the events: one statement. */
export async function insertCode(
  sql: Sql,
  tenant: string,
  code: NewCode,
  events: { created: object; sent: object },
): Promise<Reservation> {
  const [row] = await sql<Reservation>(RESERVE_CODE[code.channel], [
    tenant,
    code.key,
    code.now,
    code.channel,
    code.codeHash,
    code.expiresAt,
    code.newUserId,
    code.shown,
    code.newUserId !== null,
    code.keepUnknown,
    JSON.stringify([events.created]),
    JSON.stringify([events.sent]),
  ])
  if (!row) throw new Error('a code could not be stored')
  return row
}

const WITHDRAW_CODE = `
  WITH withdrawn AS (
    UPDATE "Passcode" SET "codeHash" = NULL, "sentAt" = "sentAt" - interval '${SEND_COOLDOWN_SECONDS} seconds'
    WHERE "tenantId" = $1 AND "address" = $2 AND "codeHash" = $3 RETURNING "userId"
  ), told AS (${insertEventsSql('$4', { from: 'withdrawn', columns: { userId: 'withdrawn."userId"' } })})
  SELECT FROM withdrawn`

/** Takes back a code that could not be delivered: another may be sent at once, though it counts to the hour's ten. */
export async function withdrawCode(sql: Sql, tenant: string, key: string, codeHash: Buffer, event: object) {
  await sql(WITHDRAW_CODE, [tenant, key, codeHash, JSON.stringify([event])])
}

const COUNT_ATTEMPT = `
  UPDATE "Passcode" p SET "attempts" = "attempts" + 1,
    "failureCount" = CASE WHEN "failureWindowAt" > $3::timestamptz - interval '1 day' THEN "failureCount" + 1 ELSE 1 END,
    "failureWindowAt" = CASE WHEN "failureWindowAt" > $3::timestamptz - interval '1 day' THEN "failureWindowAt" ELSE $3::timestamptz END
  WHERE "tenantId" = $1 AND "address" = $2 AND "codeHash" IS NOT NULL AND "expiresAt" > $3::timestamptz
    AND "attempts" < ${MAX_ATTEMPTS} AND NOT ${failuresUsedUp('p', '$3')}
  RETURNING "codeHash", "userId"`

export type Attempt = { codeHash: Buffer; userId: Passcode['userId'] }

/** Counts a guess, as a failure until it proves right; null when there is nothing (more) to guess at. Commit it alone. */
export async function countAttempt(
  sql: Sql,
  tenant: string,
  key: string,
  now: Date,
): Promise<Attempt | null> {
  const [row] = await sql<Attempt>(COUNT_ATTEMPT, [tenant, key, now])
  return row ?? null
}

// The user's row first, as in a lock: the other way round, both would wait for each other. The lock on it lasts, so
// that what follows in the transaction is about a user who is not locked.
const redeemCode = (channel: Channel): string => `
  WITH person AS (
    UPDATE "User" SET "lastSeenAt" = CASE WHEN ${isStale('"lastSeenAt"', '$4')} THEN $4::timestamptz ELSE "lastSeenAt" END
    WHERE "tenantId" = $1 AND "id" = $2 AND "${COLUMNS[channel].key}" = $3 AND NOT "locked" AND ${signsIn(channel)}
    RETURNING *
  ), redeemed AS (
    UPDATE "Passcode" p SET "codeHash" = NULL, "failureCount" = GREATEST(p."failureCount" - 1, 0)
    FROM person
    WHERE p."tenantId" = $1 AND p."address" = $3 AND p."userId" = person."id" AND p."codeHash" = $5::bytea AND p."expiresAt" > $4::timestamptz
    RETURNING p."address"
  )
  SELECT ${userColumns('person')} FROM person JOIN redeemed ON true`
const REDEEM_CODE = { email: redeemCode('email'), sms: redeemCode('sms') }

export type Redemption = { channel: Channel; key: string; userId: string; codeHash: Buffer; now: Date }

/** Uses up a code and locks the user's row; null when somebody was faster or the user may not sign in any more. */
export async function redeem(sql: Sql, tenant: string, redemption: Redemption): Promise<User | null> {
  const { channel, key, userId, codeHash, now } = redemption
  const [row] = await sql(REDEEM_CODE[channel], [tenant, userId, key, now, codeHash])
  return row ? userOf(row) : null
}
