import type { Db } from '../database/handle.ts'
import { type RowOf, statement } from '../database/statement.ts'
import { buildStaleSql } from '../sessions/session-use.sql.ts'
import {
  buildFailureCountersSql,
  buildShortLimitSql,
  buildSignsInSql,
  CHANNEL_COLUMNS,
} from './passcode-budgets.sql.ts'
import type { Channel } from './passcodes.fields.ts'

/** The budget of guesses at the old password of an address: as many as at its codes of six digits, and others. */
const BUDGET = 'password'

// The user is read for every address alike.
const buildCountGuessSql = (channel: Channel) => statement({
  takes: { address: 'text', now: 'timestamptz' },
  returns: { isCounted: 'boolean', ownerId: 'text?', ownerLocked: 'boolean?', ownerSignsIn: 'boolean?' },
})`
  WITH counted AS (
    INSERT INTO "Passcode" AS b ("tenantId", "address", "origin", "channel", "expiresAt", "sentAt", "failureCount", "failureWindowAt")
    VALUES (:tenant, :address, '${BUDGET}', '${channel}', :now, :now, 1, :now)
    ON CONFLICT ("tenantId", "address", "origin") DO UPDATE SET ${buildFailureCountersSql('b', ':now')}
      WHERE NOT ${buildShortLimitSql('b', ':now')}
    RETURNING 1
  ), owner AS (
    SELECT "id", "locked", ${buildSignsInSql(channel)} AS "signsIn" FROM "User"
    WHERE "tenantId" = :tenant AND "${CHANNEL_COLUMNS[channel].key}" = :address
  )
  SELECT EXISTS (SELECT FROM counted) AS "isCounted", owner."id" AS "ownerId", owner."locked" AS "ownerLocked",
    owner."signsIn" AS "ownerSignsIn"
  FROM (SELECT 1) one LEFT JOIN owner ON true`
const COUNT_GUESS = { email: buildCountGuessSql('email'), sms: buildCountGuessSql('sms') }

type GuessedAddress = { channel: Channel; key: string; now: Date }

/** Counts a guess at the old password of an address. Commit it on its own. `isCounted` is false when none is left. */
export async function countPasswordGuess(
  db: Db,
  { channel, key, now }: GuessedAddress,
): Promise<RowOf<typeof COUNT_GUESS.email>> {
  const row = await db.one(COUNT_GUESS[channel], { address: key, now })
  if (!row) throw new Error('a guess could not be counted')
  return row
}

const buildLockOwnerSql = (channel: Channel) => statement({
  takes: { userId: 'text', address: 'text', now: 'timestamptz' },
  returns: { roles: 'text[]', hasSecondFactor: 'boolean' },
})`
  UPDATE "User" SET "lastSeenAt" = CASE WHEN ${buildStaleSql('"lastSeenAt"', ':now')} THEN :now ELSE "lastSeenAt" END
  WHERE "tenantId" = :tenant AND "id" = :userId AND "${CHANNEL_COLUMNS[channel].key}" = :address AND NOT "locked" AND ${buildSignsInSql(channel)}
  RETURNING "roles", "hasSecondFactor"`
const LOCK_OWNER = { email: buildLockOwnerSql('email'), sms: buildLockOwnerSql('sms') }

/** Locks the row of the user who signs in by an address; null when the user cannot any more. */
export const lockAddressOwner = (
  db: Db,
  userId: string,
  { channel, key, now }: GuessedAddress,
): Promise<RowOf<typeof LOCK_OWNER.email> | null> =>
  db.one(LOCK_OWNER[channel], { userId, address: key, now })
