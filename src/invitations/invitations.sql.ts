import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import { type RowOf, statement } from '../database/statement.ts'

const COLUMNS = [
  'id',
  'email',
  'name',
  'note',
  'roles',
  'locale',
  'clientId',
  'inviterName',
  'userId',
  'revoked',
  'sentAt',
  'acceptedAt',
  'expiresAt',
  'createdAt',
] as const

const IS_ACCEPTABLE = `"tenantId" = :tenant AND "tokenHash" = :tokenHash AND "acceptedAt" IS NULL AND NOT "revoked"
    AND "expiresAt" > :now`

const SELECT_ACCEPTABLE = statement({
  takes: { tokenHash: 'bytea', now: 'timestamptz' },
  returns: { ...storedColumns('Invitation', COLUMNS), hasUser: 'boolean' },
})`
  SELECT ${COLUMNS.map((name) => `"${name}"`).join(', ')},
    EXISTS (SELECT FROM "User" u WHERE u."tenantId" = :tenant AND u."emailKey" = "Invitation"."emailKey") AS "hasUser"
  FROM "Invitation" WHERE ${IS_ACCEPTABLE}`

/** The invitation of a link, and whether a user has the address; null when the link does not work. */
export type AcceptableInvitation = RowOf<typeof SELECT_ACCEPTABLE>
/** The columns of an invitation that are read. */
export type InvitationRow = Omit<AcceptableInvitation, 'hasUser'>

export const selectAcceptable = (
  db: Db,
  tokenHash: Buffer,
  now: Date,
): Promise<AcceptableInvitation | null> => db.one(SELECT_ACCEPTABLE, { tokenHash, now })

// The row lock serializes concurrent uses: the second sees that it was accepted.
const CONSUME_INVITATION = statement({
  takes: { tokenHash: 'bytea', now: 'timestamptz' },
  returns: { id: 'text' },
})`
  UPDATE "Invitation" SET "acceptedAt" = :now, "tokenHash" = NULL WHERE ${IS_ACCEPTABLE} RETURNING "id"`

/** Uses the link of an invitation; false when it was used before, revoked or expired. */
export const consumeInvitation = async (tx: Db, tokenHash: Buffer, now: Date): Promise<boolean> =>
  (await tx.one(CONSUME_INVITATION, { tokenHash, now })) !== null
