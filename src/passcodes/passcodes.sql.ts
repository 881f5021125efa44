import type { Sql } from '../database/db.ts'
import { type RowOf, statement } from '../database/statement.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'
import {
  buildCooldownSql,
  buildNetworkLimitSql,
  buildSendCountersSql,
  buildSendLimitSql,
  buildShortLimitSql,
  buildSignsInSql,
  CHANNEL_COLUMNS,
  SEND_COOLDOWN_SECONDS,
} from './passcode-budgets.sql.ts'
import type { PasscodeOrigin } from './passcode-origin.ts'
import type { Channel } from './passcodes.fields.ts'

// Finds or creates the user, counts the code in its budget, and stores it for its origin: concurrent calls wait
// for the budget and find it used up. FOR SHARE makes this and a lock of the user wait for each other. Beyond
// the budget, no user is created. An address without a user that :maySignUp is sent a code. Another that no
// code can be sent to gets a code too if :keepUnknown, and an event like any other, so that neither rows nor
// response times reveal it. Rows are locked in the order user, code, network, budget, here and below.
const buildReserveCodeSql = (channel: Channel) => statement({
  takes: {
    address: 'text',
    origin: 'text',
    budget: 'text',
    network: 'text?',
    now: 'timestamptz',
    channel: 'text',
    codeHash: 'bytea',
    longHash: 'bytea',
    expiresAt: 'timestamptz',
    newUserId: 'text?',
    shown: 'text',
    mayCreate: 'boolean',
    keepUnknown: 'boolean',
    maySignUp: 'boolean',
    created: 'jsonb',
    sent: 'jsonb',
    failed: 'jsonb',
  },
  returns: {
    /** Null when no user has the address. */
    userId: 'text?',
    locked: 'boolean?',
    locale: 'text?',
    /** False for an unverified address of a user who has a verified one. */
    signsIn: 'boolean?',
    isCreated: 'boolean',
    /** The code was stored. With `keepUnknown`, also without a recipient. */
    isReserved: 'boolean',
    /** The code was stored for an address without a user, which may sign up. */
    isSignUp: 'boolean',
    /** The code of ten digits was stored. */
    isLong: 'boolean?',
    /** The codes of this hour are used up. */
    isLimited: 'boolean?',
    /** When the address can be sent a code again, if that is why it was not stored. */
    waitUntil: 'timestamptz?',
  },
})`
  WITH locked_user AS MATERIALIZED (
    SELECT "id", "locked", "locale", ${buildSignsInSql(channel)} AS "signsIn" FROM "User"
    WHERE "tenantId" = :tenant AND "${CHANNEL_COLUMNS[channel].key}" = :address FOR SHARE
  ), locked_code AS MATERIALIZED (
    SELECT p."sentAt" FROM (SELECT count(*) FROM locked_user) u CROSS JOIN "Passcode" p
    WHERE p."tenantId" = :tenant AND p."address" = :address AND p."origin" = :origin FOR NO KEY UPDATE OF p
  ), state AS (
    SELECT * FROM locked_code p WHERE ${buildCooldownSql('p', ':now')}
  ), budget AS (
    SELECT max(b."sendWindowAt") AS "sendWindowAt", count(*) > 0 AS "isLimited" FROM "Passcode" b
    WHERE "tenantId" = :tenant AND "address" = :address AND ("origin" = :budget AND ${buildSendLimitSql('b', ':now')}
      OR "origin" = :network AND ${buildNetworkLimitSql('b', ':now')})
  ), created AS (
    INSERT INTO "User" ("tenantId", "id", "${CHANNEL_COLUMNS[channel].shown}", "${CHANNEL_COLUMNS[channel].key}", "updatedAt", "createdAt")
    SELECT :tenant, :newUserId, :shown, :address, :now, :now
    WHERE :mayCreate AND NOT EXISTS (SELECT FROM locked_user) AND NOT EXISTS (SELECT FROM state)
      AND NOT EXISTS (SELECT FROM budget WHERE "isLimited")
    ON CONFLICT DO NOTHING RETURNING "id"
  ), target AS (
    SELECT "id", "locked", "locale", "signsIn" FROM locked_user UNION ALL SELECT "id", false, NULL, true FROM created
  ), recipient AS (
    SELECT "id" FROM target WHERE NOT "locked" AND "signsIn"
    UNION ALL SELECT NULL WHERE :keepUnknown AND NOT EXISTS (SELECT FROM target WHERE NOT "locked" AND "signsIn")
  ), networked AS (
    INSERT INTO "Passcode" AS n ("tenantId", "address", "origin", "channel", "expiresAt", "sentAt", "sendCount", "sendWindowAt", "failureWindowAt")
    SELECT :tenant, :address, :network, :channel, :now, :now - interval '${SEND_COOLDOWN_SECONDS} seconds', 1, :now, :now
    FROM recipient WHERE :network IS NOT NULL AND NOT EXISTS (SELECT FROM state) AND NOT (SELECT "isLimited" FROM budget)
    ON CONFLICT ("tenantId", "address", "origin") DO UPDATE SET ${buildSendCountersSql('n', ':now')}
    WHERE NOT ${buildNetworkLimitSql('n', ':now')}
    RETURNING 1
  ), counted AS (
    INSERT INTO "Passcode" AS b ("tenantId", "address", "origin", "channel", "expiresAt", "sentAt", "sendCount", "sendWindowAt", "failureWindowAt")
    SELECT :tenant, :address, :budget, :channel, :now, :now - interval '${SEND_COOLDOWN_SECONDS} seconds', 1, :now, :now
    FROM recipient WHERE NOT EXISTS (SELECT FROM state) AND (:network IS NULL OR EXISTS (SELECT FROM networked))
    ON CONFLICT ("tenantId", "address", "origin") DO UPDATE SET ${buildSendCountersSql('b', ':now')}
    WHERE NOT ${buildSendLimitSql('b', ':now')}
    RETURNING ${buildShortLimitSql('b', ':now')} AS "isLong"
  ), reserved AS (
    INSERT INTO "Passcode" AS p ("tenantId", "address", "origin", "channel", "userId", "isSignUp", "codeHash", "isLong", "attempts", "expiresAt", "sentAt", "sendWindowAt", "failureWindowAt")
    SELECT :tenant, :address, :origin, :channel, recipient."id", :maySignUp AND NOT EXISTS (SELECT FROM target),
      CASE WHEN counted."isLong" THEN :longHash ELSE :codeHash END,
      counted."isLong", 0, :expiresAt, :now, :now, :now
    FROM recipient, counted
    ON CONFLICT ("tenantId", "address", "origin") DO UPDATE SET
      "channel" = EXCLUDED."channel", "userId" = EXCLUDED."userId", "isSignUp" = EXCLUDED."isSignUp", "codeHash" = EXCLUDED."codeHash", "isLong" = EXCLUDED."isLong",
      "attempts" = 0, "expiresAt" = EXCLUDED."expiresAt", "sentAt" = EXCLUDED."sentAt"
    WHERE NOT ${buildCooldownSql('p', ':now')}
    RETURNING "userId", "isSignUp", "isLong"
  ), rejected AS (
    SELECT target."id", CASE WHEN target."id" IS NULL THEN 'unknown' WHEN target."locked" THEN 'locked' ELSE 'unverified' END AS "reason"
    FROM (SELECT 1) one LEFT JOIN target ON true
    WHERE EXISTS (SELECT FROM reserved WHERE "userId" IS NULL AND NOT "isSignUp") OR (NOT :keepUnknown AND target."locked")
  ), created_log AS (${buildInsertEventsSql(':created', { from: 'created', columns: { userId: 'created."id"' } })}
  ), sent_log AS (${buildInsertEventsSql(':sent', {
    from: '(SELECT * FROM reserved WHERE "userId" IS NOT NULL OR "isSignUp") r',
    columns: {
      userId: 'r."userId"',
      detail: `CASE WHEN r."isSignUp" THEN e."detail" || '{"purpose": "sign-up"}' ELSE e."detail" END`,
    },
  })}
  ), failed_log AS (${buildInsertEventsSql(':failed', {
    from: 'rejected r',
    columns: { userId: 'r."id"', detail: `e."detail" || jsonb_build_object('reason', r."reason")` },
  })}
  )
  SELECT target."id" AS "userId", target."locked", target."locale", target."signsIn",
    EXISTS (SELECT FROM created) AS "isCreated", EXISTS (SELECT FROM reserved) AS "isReserved",
    EXISTS (SELECT FROM reserved WHERE "isSignUp") AS "isSignUp",
    (SELECT "isLong" FROM reserved) AS "isLong", budget."isLimited",
    GREATEST(
      state."sentAt" + interval '${SEND_COOLDOWN_SECONDS} seconds',
      CASE WHEN budget."isLimited" THEN budget."sendWindowAt" + interval '1 hour' END
    ) AS "waitUntil"
  FROM (SELECT 1) one LEFT JOIN target ON true LEFT JOIN state ON true LEFT JOIN budget ON true`
const RESERVE_CODE = { email: buildReserveCodeSql('email'), sms: buildReserveCodeSql('sms') }

export type PasscodeReservation = RowOf<typeof RESERVE_CODE.email>

export type NewPasscode = PasscodeOrigin & {
  channel: Channel
  key: string
  shown: string
  codeHash: Buffer
  /** The hash of the code of ten digits, which is stored when guesses have used up the budget of short ones. */
  longHash: Buffer
  now: Date
  expiresAt: Date
  /** Id of the user to create when the address is unknown; null creates none. */
  newUserId: string | null
  /** Write a code for an unknown or locked address too, so that the response time does not reveal it. */
  keepUnknown: boolean
  /** The address may sign up: without a user, it gets a code that is sent. */
  maySignUp: boolean
}

/** Stores a new code for an address, with the events: one statement. */
export async function reservePasscode(
  sql: Sql,
  tenant: string,
  code: NewPasscode,
  events: { created: object; sent: object; failed: object },
): Promise<PasscodeReservation> {
  const { channel, key: address, ...values } = code
  const row = await RESERVE_CODE[channel].first(sql, {
    tenant,
    channel,
    address,
    ...values,
    mayCreate: code.newUserId !== null,
    created: [events.created],
    sent: [events.sent],
    failed: [events.failed],
  })
  if (!row) throw new Error('a code could not be stored')
  return row
}

// The hash becomes one that no code has: without a hash, guesses would be answered in another way than those at
// the code of an unknown address.
const WITHDRAW_CODE = statement({
  takes: { address: 'text', origin: 'text', codeHash: 'bytea', events: 'jsonb' },
})`
  WITH withdrawn AS (
    UPDATE "Passcode" SET "codeHash" = sha256("codeHash"), "sentAt" = "sentAt" - interval '${SEND_COOLDOWN_SECONDS} seconds'
    WHERE "tenantId" = :tenant AND "address" = :address AND "origin" = :origin AND "codeHash" = :codeHash RETURNING "userId"
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'withdrawn', columns: { userId: 'withdrawn."userId"' } })})
  SELECT FROM withdrawn`

/**
 * Withdraws a code that could not be delivered: another can be sent at once, but it counts toward the hourly
 * limit.
 */
export async function withdrawPasscode(
  sql: Sql,
  tenant: string,
  { key, origin, codeHash }: { key: string; origin: string; codeHash: Buffer },
  event: object,
): Promise<void> {
  await WITHDRAW_CODE.run(sql, { tenant, address: key, origin, codeHash, events: [event] })
}
