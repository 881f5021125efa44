import type { Sql } from '../database/db.ts'
import { statement } from '../database/statement.ts'
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
  sql: Sql,
  tenant: string,
  { channel, key }: PasscodeAddress,
  now: Date,
): Promise<User | null> {
  const row = await LOCK_OWNER[channel].first(sql, { tenant, address: key, now })
  return row ? toUserRow(row) : null
}
