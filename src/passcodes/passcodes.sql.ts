import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'
import {
  buildCooldownSql,
  buildCountSentSql,
  buildLockRowSql,
  buildNetworkLimitSql,
  buildSendLimitSql,
  buildShortLimitSql,
  SEND_COOLDOWN_SECONDS,
} from './passcode-budgets.sql.ts'
import type { PasscodeOrigin } from './passcode-origin.ts'
import type { PasscodeAddress } from './passcodes.fields.ts'

/** A request of a code: for which address, where and when. */
export type PasscodeRequest = { address: PasscodeAddress; origin: PasscodeOrigin; now: Date }

const toValues = ({ address: { key: address, channel }, origin, now }: PasscodeRequest) => ({
  address,
  channel,
  now,
  ...origin,
})

const LOCK_CODE = statement({
  takes: { address: 'text', origin: 'text', channel: 'text', now: 'timestamptz' },
  returns: { waitUntil: 'timestamptz?' },
})`
  ${buildLockRowSql('p', ':origin')}
  RETURNING CASE WHEN ${buildCooldownSql('p', ':now')} THEN p."sentAt" + interval '${SEND_COOLDOWN_SECONDS} seconds' END AS "waitUntil"`

/**
 * Reserves the code of an origin, so that requests at the same time wait for each other. Returns when the next code can
 * be stored, or null when one can now. Lock the recipient first.
 */
export async function lockPasscode(db: Db, request: PasscodeRequest): Promise<Date | null> {
  const row = await db.one(LOCK_CODE, { ...toValues(request) })
  if (!row) throw new Error('a code could not be locked')
  return row.waitUntil
}

const COUNT_CODE = statement({
  takes: { address: 'text', network: 'text?', budget: 'text', channel: 'text', now: 'timestamptz' },
  returns: { isLong: 'boolean' },
})`
  WITH networked AS (
    ${buildCountSentSql('n', ':network', buildNetworkLimitSql('n', ':now'), 'WHERE :network IS NOT NULL')}
    RETURNING 1
  )
  ${buildCountSentSql('b', ':budget', buildSendLimitSql('b', ':now'), 'WHERE :network IS NULL OR EXISTS (SELECT FROM networked)')}
  RETURNING ${buildShortLimitSql('b', ':now')} AS "isLong"`

/**
 * Counts a code in the budgets of its address, in the order network, budget. `isLong` if it has ten digits. Returns null
 * when one of them is used up: roll back then.
 */
export const countSentPasscode = (db: Db, request: PasscodeRequest): Promise<{ isLong: boolean } | null> =>
  db.one(COUNT_CODE, { ...toValues(request) })

const SELECT_LIMIT_END = statement({
  takes: { address: 'text', network: 'text?', budget: 'text', now: 'timestamptz' },
  returns: { waitUntil: 'timestamptz?' },
})`
  SELECT max(b."sendWindowAt") + interval '1 hour' AS "waitUntil" FROM "Passcode" b
  WHERE "tenantId" = :tenant AND "address" = :address
    AND ("origin" = :budget AND ${buildSendLimitSql('b', ':now')} OR "origin" = :network AND ${buildNetworkLimitSql('b', ':now')})`

/** Returns when the budgets of an address admit a code again. */
export async function findLimitEnd(db: Db, request: PasscodeRequest): Promise<Date> {
  const row = await db.one(SELECT_LIMIT_END, { ...toValues(request) })
  return row?.waitUntil ?? request.now
}

/** A code of an address, for a user, or for someone who may sign up, or for nobody. */
export type NewPasscode = {
  userId: string | null
  isSignUp: boolean
  codeHash: Buffer
  isLong: boolean
  expiresAt: Date
}

const STORE_CODE = statement({
  takes: {
    address: 'text',
    origin: 'text',
    userId: 'text?',
    isSignUp: 'boolean',
    codeHash: 'bytea',
    isLong: 'boolean',
    now: 'timestamptz',
    expiresAt: 'timestamptz',
  },
})`
  UPDATE "Passcode" SET "userId" = :userId, "isSignUp" = :isSignUp, "codeHash" = :codeHash, "isLong" = :isLong, "attempts" = 0,
    "sentAt" = :now, "expiresAt" = :expiresAt
  WHERE "tenantId" = :tenant AND "address" = :address AND "origin" = :origin`

/** Stores the code that `lockPasscode` has reserved. */
export const updatePasscode = (db: Db, request: PasscodeRequest, code: NewPasscode): Promise<void> =>
  db.run(STORE_CODE, { ...toValues(request), ...code })

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
  db: Db,
  { key, origin, codeHash }: { key: string; origin: string; codeHash: Buffer },
  event: object,
): Promise<void> {
  await db.run(WITHDRAW_CODE, { address: key, origin, codeHash, events: [event] })
}
