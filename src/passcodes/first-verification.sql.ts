import {
  ENDED_RETURNS,
  NEXT_CODE_GENERATION,
  UNVERIFIED_PARTS,
} from '../access/revocation/revocation-parts.sql.ts'
import type { Db } from '../database/handle.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import type { User } from '../generated/prisma/client.ts'
import { toUserColumnList, toUserRow, USER_RETURNS } from '../sessions/sessions.sql.ts'
import type { Channel } from './passcodes.fields.ts'

const REMOVED_RETURNS = {
  ...ENDED_RETURNS,
  what: typed<'session' | 'grant' | 'credential' | 'link' | 'apiKey'>('text'),
} as const
/** An ended session, a revoked grant, or a deleted credential, linked identity or API key. */
export type RemovedAccess = RowOf<{ returns: typeof REMOVED_RETURNS }>

// A statement of its own, after the user's row was locked: it sees every session that was started until then.
const declareVerify = (column: string) => statement({
  takes: { userId: 'text', now: 'timestamptz' },
  // Columns of the removed access are null when nothing was removed.
  returns: {
    ...USER_RETURNS,
    ...REMOVED_RETURNS,
    what: typed<RemovedAccess['what'] | null>('text?'),
  },
})`
  WITH verified_user AS (
    UPDATE "User" SET "${column}" = true, ${NEXT_CODE_GENERATION}, "updatedAt" = GREATEST(:now, "updatedAt" + interval '1 millisecond')
    WHERE "tenantId" = :tenant AND "id" = :userId RETURNING *
  ), ${UNVERIFIED_PARTS}
  SELECT ${toUserColumnList('verified_user')}, removed.* FROM verified_user LEFT JOIN removed ON true`
const VERIFY = { email: declareVerify('emailVerified'), sms: declareVerify('phoneNumberVerified') }

/**
 * Marks a user's address as verified and revokes what the user got before, except what an administrator
 * created: one statement. Throws when the user does not exist; lock the user's row first.
 */
export async function applyFirstVerification(
  db: Db,
  { channel, userId, now }: { channel: Channel; userId: string; now: Date },
): Promise<{ user: User; removed: RemovedAccess[] }> {
  const rows = await db.many(VERIFY[channel], { userId, now })
  const [first] = rows
  if (!first) throw new Error('the user of a verified address does not exist')
  const removed = rows.flatMap(({ what, id, userId, clientId, sessionId }) =>
    what === null ? [] : [{ what, id, userId, clientId, sessionId }],
  )
  return { user: toUserRow(first), removed }
}
