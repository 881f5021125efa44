import type { Db } from '../database/handle.ts'
import { type RowOf, statement } from '../database/statement.ts'
import type { User } from '../generated/prisma/client.ts'
import { buildStaleSql } from '../sessions/session-use.sql.ts'
import { toUserColumnList, toUserRow, USER_RETURNS } from '../sessions/sessions.sql.ts'
import { buildSignsInSql, CHANNEL_COLUMNS } from './passcode-budgets.sql.ts'
import type { Channel, PasscodeAddress } from './passcodes.fields.ts'

const buildLockOwnerSql = (channel: Channel) => statement({
  takes: { address: 'text', now: 'timestamptz' },
  returns: USER_RETURNS,
})`
  WITH owner AS (
    UPDATE "User" SET "lastSeenAt" = CASE WHEN ${buildStaleSql('"lastSeenAt"', ':now')} THEN :now ELSE "lastSeenAt" END
    WHERE "tenantId" = :tenant AND "${CHANNEL_COLUMNS[channel].key}" = :address AND NOT "locked" AND ${buildSignsInSql(channel)}
    RETURNING *
  )
  SELECT ${toUserColumnList('owner')} FROM owner`
const LOCK_OWNER = { email: buildLockOwnerSql('email'), sms: buildLockOwnerSql('sms') }

/** Locks the row of the user who signs in by an address that is proven; null when there is none. */
export async function lockAddressOwner(
  db: Db,
  { channel, key }: PasscodeAddress,
  now: Date,
): Promise<User | null> {
  const row = await db.one(LOCK_OWNER[channel], { address: key, now })
  return row ? toUserRow(row) : null
}

const buildLockRecipientSql = (channel: Channel) => statement({
  takes: { address: 'text' },
  returns: {
    id: 'text',
    locked: 'boolean',
    locale: 'text?',
    /** False for an unverified address of a user who has a verified one. */
    signsIn: 'boolean',
  },
})`
  SELECT "id", "locked", "locale", ${buildSignsInSql(channel)} AS "signsIn" FROM "User"
  WHERE "tenantId" = :tenant AND "${CHANNEL_COLUMNS[channel].key}" = :address FOR SHARE`
const LOCK_RECIPIENT = { email: buildLockRecipientSql('email'), sms: buildLockRecipientSql('sms') }

export type PasscodeRecipient = RowOf<typeof LOCK_RECIPIENT.email>

/** The user who has an address, who is not locked or changed until the transaction ends; null when there is none. */
export const lockPasscodeRecipient = (
  db: Db,
  { channel, key }: PasscodeAddress,
): Promise<PasscodeRecipient | null> => db.one(LOCK_RECIPIENT[channel], { address: key })
