import type { Sql } from '../db.ts'
import { insertEventsSql } from '../events.sql.ts'
import type { User } from '../generated/prisma/client.ts'
import type { Channel } from '../passcodes/passcodes.fields.ts'
import {
  coolsDown,
  failuresUsedUp,
  MAX_ATTEMPTS,
  SEND_COOLDOWN_SECONDS,
  sendsUsedUp,
} from '../passcodes/passcodes.sql.ts'

const COLUMNS = {
  email: { key: 'emailKey', verified: 'emailVerified' },
  sms: { key: 'phoneNumberKey', verified: 'phoneNumberVerified' },
} as const satisfies Record<Channel, Record<string, keyof User>>

const isBlocked = (c: string) => `(${coolsDown(c, '$5')} OR ${sendsUsedUp(c, '$5')})`
const sendCounters = (row: string) => `
  "sendCount" = CASE WHEN ${row}."sendWindowAt" > $5::timestamptz - interval '1 hour' THEN ${row}."sendCount" + 1 ELSE 1 END,
  "sendWindowAt" = CASE WHEN ${row}."sendWindowAt" > $5::timestamptz - interval '1 hour' THEN ${row}."sendWindowAt" ELSE $5::timestamptz END`

// Whoever asks learns of their own budget only. The address has one too, which it shares with sign-ins ("Passcode"); when
// that is spent, or somebody else has the address, everything looks the same and no code is made. Locks are taken in the
// order user, change, address, here and below.
const reserveChange = (channel: Channel): string => `
  WITH person AS MATERIALIZED (
    SELECT "id", "${COLUMNS[channel].key}" = $4 AND "${COLUMNS[channel].verified}" AS "isOwn" FROM "User"
    WHERE "tenantId" = $1 AND "id" = $2 AND NOT "locked" FOR SHARE
  ), state AS MATERIALIZED (
    SELECT c.* FROM person JOIN "AddressChange" c ON c."tenantId" = $1 AND c."userId" = person."id" AND c."channel" = $3
    FOR NO KEY UPDATE OF c
  ), asking AS MATERIALIZED (
    SELECT person."id" FROM person LEFT JOIN state ON true
    WHERE person."isOwn" IS NOT TRUE AND (state."userId" IS NULL OR NOT ${isBlocked('state')})
  ), budget AS (
    INSERT INTO "Passcode" AS p ("tenantId", "address", "channel", "expiresAt", "sentAt", "sendCount", "sendWindowAt", "failureWindowAt")
    SELECT $1, $4, $3, $5::timestamptz, $5::timestamptz - interval '${SEND_COOLDOWN_SECONDS} seconds', 1, $5::timestamptz, $5::timestamptz
    FROM asking
    WHERE NOT EXISTS (SELECT FROM "User" WHERE "tenantId" = $1 AND "${COLUMNS[channel].key}" = $4 AND "id" <> $2)
    ON CONFLICT ("tenantId", "address") DO UPDATE SET ${sendCounters('p')}
    WHERE NOT ${sendsUsedUp('p', '$5')} AND NOT ${failuresUsedUp('p', '$5')}
    RETURNING p."address"
  ), asked AS (
    INSERT INTO "AddressChange" AS c ("tenantId", "userId", "channel", "address", "shown", "codeHash", "expiresAt", "sentAt", "sendCount", "sendWindowAt")
    SELECT $1, "id", $3, $4, $8, CASE WHEN EXISTS (SELECT FROM budget) THEN $6::bytea END, $7::timestamptz, $5::timestamptz, 1, $5::timestamptz
    FROM asking
    ON CONFLICT ("tenantId", "userId", "channel") DO UPDATE SET
      "address" = EXCLUDED."address", "shown" = EXCLUDED."shown", "codeHash" = EXCLUDED."codeHash", "attempts" = 0,
      "expiresAt" = EXCLUDED."expiresAt", "sentAt" = EXCLUDED."sentAt", ${sendCounters('c')}
    WHERE NOT ${isBlocked('c')}
    RETURNING c."codeHash"
  ), told AS (${insertEventsSql('$9', { from: '(SELECT FROM asked WHERE "codeHash" IS NOT NULL) r' })})
  SELECT COALESCE(person."isOwn", false) AS "isOwn",
    EXISTS (SELECT FROM asked) AS "isAsked", EXISTS (SELECT FROM asked WHERE "codeHash" IS NOT NULL) AS "hasCode",
    GREATEST(
      CASE WHEN ${coolsDown('state', '$5')} THEN state."sentAt" + interval '${SEND_COOLDOWN_SECONDS} seconds' END,
      CASE WHEN ${sendsUsedUp('state', '$5')} THEN state."sendWindowAt" + interval '1 hour' END
    ) AS "waitUntil"
  FROM person LEFT JOIN state ON true`
const RESERVE_CHANGE = { email: reserveChange('email'), sms: reserveChange('sms') }

export type NewChange = {
  userId: string
  channel: Channel
  key: string
  shown: string
  codeHash: Buffer
  now: Date
  expiresAt: Date
}

export type ReservedChange = {
  /** The address is the person's own already, and proven. */
  isOwn: boolean
  /** The change is pending from now on; false: the person has asked too often. */
  isAsked: boolean
  /** There is a code to send: the address is free, and was not sent too many. */
  hasCode: boolean
  /** When the person may ask again, if that is why it is not pending. */
  waitUntil: Date | null
}

/** Makes a change of address pending, in place of one before it: one statement, event included. Null: no such person. */
export async function reserveAddressChange(
  sql: Sql,
  tenant: string,
  change: NewChange,
  event: object,
): Promise<ReservedChange | null> {
  const [row] = await sql<ReservedChange>(RESERVE_CHANGE[change.channel], [
    tenant,
    change.userId,
    change.channel,
    change.key,
    change.now,
    change.codeHash,
    change.expiresAt,
    change.shown,
    JSON.stringify([event]),
  ])
  return row ?? null
}

const WITHDRAW_CHANGE = `
  WITH withdrawn AS (
    UPDATE "AddressChange" SET "codeHash" = NULL, "sentAt" = "sentAt" - interval '${SEND_COOLDOWN_SECONDS} seconds'
    WHERE "tenantId" = $1 AND "userId" = $2 AND "channel" = $3 AND "codeHash" = $4::bytea RETURNING "userId"
  ), told AS (${insertEventsSql('$5', { from: 'withdrawn' })})
  SELECT FROM withdrawn`

type StoredCode = Pick<NewChange, 'userId' | 'channel' | 'codeHash'>

/** Takes back a code that could not be delivered: another may be asked for at once. */
export async function withdrawAddressChange(sql: Sql, tenant: string, code: StoredCode, event: object) {
  const { userId, channel, codeHash } = code
  await sql(WITHDRAW_CHANGE, [tenant, userId, channel, codeHash, JSON.stringify([event])])
}

const COUNT_ATTEMPT = `
  WITH counted AS (
    UPDATE "AddressChange" SET "attempts" = "attempts" + 1
    WHERE "tenantId" = $1 AND "userId" = $2 AND "channel" = $3 AND "address" = $4 AND "codeHash" IS NOT NULL
      AND "expiresAt" > $5::timestamptz AND "attempts" < ${MAX_ATTEMPTS}
    RETURNING "address", "codeHash"
  ), failed AS (
    UPDATE "Passcode" p SET
      "failureCount" = CASE WHEN p."failureWindowAt" > $5::timestamptz - interval '1 day' THEN p."failureCount" + 1 ELSE 1 END,
      "failureWindowAt" = CASE WHEN p."failureWindowAt" > $5::timestamptz - interval '1 day' THEN p."failureWindowAt" ELSE $5::timestamptz END
    FROM counted WHERE p."tenantId" = $1 AND p."address" = counted."address" AND NOT ${failuresUsedUp('p', '$5')}
    RETURNING p."address"
  )
  SELECT counted."codeHash" FROM counted JOIN failed ON true`

export type PendingChange = { userId: string; channel: Channel; key: string; now: Date }

/**
 * Counts a guess at a code, also against the address, whoever makes it; answers what to compare it with, null when there
 * is nothing (more) to guess at. Commit it alone.
 */
export async function countChangeAttempt(
  sql: Sql,
  tenant: string,
  { userId, channel, key, now }: PendingChange,
): Promise<Buffer | null> {
  const [row] = await sql<{ codeHash: Buffer }>(COUNT_ATTEMPT, [tenant, userId, channel, key, now])
  return row?.codeHash ?? null
}

const REDEEM_CHANGE = `
  WITH person AS MATERIALIZED (
    SELECT "id", "email", "emailKey", "emailVerified", "phoneNumber", "phoneNumberKey", "phoneNumberVerified" FROM "User"
    WHERE "tenantId" = $1 AND "id" = $2 AND NOT "locked" FOR NO KEY UPDATE
  ), used AS (
    UPDATE "AddressChange" c SET "codeHash" = NULL FROM person
    WHERE c."tenantId" = $1 AND c."userId" = person."id" AND c."channel" = $3 AND c."address" = $4
      AND c."codeHash" = $6::bytea AND c."expiresAt" > $5::timestamptz
    RETURNING c."address", c."shown"
  ), refunded AS (
    UPDATE "Passcode" p SET "failureCount" = GREATEST(p."failureCount" - 1, 0) FROM used
    WHERE p."tenantId" = $1 AND p."address" = used."address"
  )
  SELECT person.*, used."shown" FROM person JOIN used ON true`

/** Whom the change is of, as they are before it, and the new address as it was given. */
export type RedeemedChange = Pick<
  User,
  'id' | 'email' | 'emailKey' | 'emailVerified' | 'phoneNumber' | 'phoneNumberKey' | 'phoneNumberVerified'
> & { shown: string }

/** Uses up a code and locks the user's row; null when somebody was faster or the user is locked or gone. */
export async function redeemAddressChange(
  sql: Sql,
  tenant: string,
  { userId, channel, key, now }: PendingChange,
  codeHash: Buffer,
): Promise<RedeemedChange | null> {
  const [row] = await sql<RedeemedChange>(REDEEM_CHANGE, [tenant, userId, channel, key, now, codeHash])
  return row ?? null
}
