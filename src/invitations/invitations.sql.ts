import { storedColumns } from '../database/columns.ts'
import type { Sql } from '../database/db.ts'
import { type RowOf, statement } from '../database/statement.ts'

/** Seconds between two messages of an invitation. */
const SEND_COOLDOWN_SECONDS = 30
/** Messages of an invitation. */
const MAX_SENDS = 20

const IS_OPEN = `"acceptedAt" IS NULL AND NOT "revoked"`

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
const COLUMN_LIST = COLUMNS.map((name) => `"${name}"`).join(', ')

const INSERT_INVITATION = statement({
  takes: {
    id: 'text',
    tokenHash: 'bytea',
    email: 'text',
    emailKey: 'text',
    name: 'text?',
    note: 'text?',
    roles: 'text[]',
    locale: 'text?',
    clientId: 'text?',
    inviterName: 'text?',
    now: 'timestamptz',
    expiresAt: 'timestamptz',
  },
  returns: storedColumns('Invitation', COLUMNS),
})`
  INSERT INTO "Invitation" ("tenantId", "id", "tokenHash", "email", "emailKey", "name", "note", "roles", "locale", "clientId",
    "inviterName", "sentAt", "expiresAt", "createdAt")
  VALUES (:tenant, :id, :tokenHash, :email, :emailKey, :name, :note, :roles, :locale, :clientId, :inviterName, :now, :expiresAt, :now)
  RETURNING ${COLUMN_LIST}`

/** The columns of an invitation that are read. */
export type InvitationRow = RowOf<typeof INSERT_INVITATION>

/** Stores an invitation. */
export const insertInvitation = async (
  sql: Sql,
  tenant: string,
  row: Omit<Parameters<typeof INSERT_INVITATION.first>[1], 'tenant'>,
): Promise<InvitationRow> => (await INSERT_INVITATION.first(sql, { tenant, ...row })) as InvitationRow

const DELETE_INVITATION = statement({ takes: { id: 'text' } })`
  DELETE FROM "Invitation" WHERE "tenantId" = :tenant AND "id" = :id`

/** Deletes an invitation whose message could not be delivered. */
export const deleteInvitation = (sql: Sql, tenant: string, id: string): Promise<void> =>
  DELETE_INVITATION.run(sql, { tenant, id })

const RENEW_INVITATION = statement({
  takes: {
    id: 'text',
    tokenHash: 'bytea',
    inviterName: 'text?',
    now: 'timestamptz',
    expiresAt: 'timestamptz',
  },
  returns: storedColumns('Invitation', COLUMNS),
})`
  UPDATE "Invitation" SET "tokenHash" = :tokenHash, "inviterName" = COALESCE(:inviterName, "inviterName"), "sentAt" = :now,
    "sendCount" = "sendCount" + 1, "expiresAt" = :expiresAt
  WHERE "tenantId" = :tenant AND "id" = :id AND ${IS_OPEN}
    AND "sentAt" <= :now - interval '${SEND_COOLDOWN_SECONDS} seconds' AND "sendCount" < ${MAX_SENDS}
  RETURNING ${COLUMN_LIST}`

/** Replaces the token of an open invitation; null when it is not open or was sent a moment ago, or too often. */
export const renewInvitation = (
  sql: Sql,
  tenant: string,
  row: Omit<Parameters<typeof RENEW_INVITATION.first>[1], 'tenant'>,
): Promise<InvitationRow | null> => RENEW_INVITATION.first(sql, { tenant, ...row })

const REVOKE_INVITATION = statement({ takes: { id: 'text' }, returns: { id: 'text' } })`
  UPDATE "Invitation" SET "revoked" = true, "tokenHash" = NULL
  WHERE "tenantId" = :tenant AND "id" = :id AND ${IS_OPEN} RETURNING "id"`

/** Revokes an open invitation; false when it is not open. */
export const revokeInvitationRow = async (sql: Sql, tenant: string, id: string): Promise<boolean> =>
  (await REVOKE_INVITATION.first(sql, { tenant, id })) !== null

const IS_ACCEPTABLE = `"tenantId" = :tenant AND "tokenHash" = :tokenHash AND ${IS_OPEN} AND "expiresAt" > :now`

const SELECT_ACCEPTABLE = statement({
  takes: { tokenHash: 'bytea', now: 'timestamptz' },
  returns: { ...storedColumns('Invitation', COLUMNS), hasUser: 'boolean' },
})`
  SELECT ${COLUMN_LIST},
    EXISTS (SELECT FROM "User" u WHERE u."tenantId" = :tenant AND u."emailKey" = "Invitation"."emailKey") AS "hasUser"
  FROM "Invitation" WHERE ${IS_ACCEPTABLE}`

/** The invitation of a link, and whether a user has the address; null when the link does not work. */
export type AcceptableInvitation = RowOf<typeof SELECT_ACCEPTABLE>

export const selectAcceptable = (
  sql: Sql,
  tenant: string,
  tokenHash: Buffer,
  now: Date,
): Promise<AcceptableInvitation | null> => SELECT_ACCEPTABLE.first(sql, { tenant, tokenHash, now })

// The row lock serializes concurrent uses: the second sees that it was accepted.
const CONSUME_INVITATION = statement({
  takes: { tokenHash: 'bytea', now: 'timestamptz' },
  returns: { id: 'text' },
})`
  UPDATE "Invitation" SET "acceptedAt" = :now, "tokenHash" = NULL WHERE ${IS_ACCEPTABLE} RETURNING "id"`

/** Uses the link of an invitation; false when it was used before, revoked or expired. */
export const consumeInvitation = async (
  sql: Sql,
  tenant: string,
  tokenHash: Buffer,
  now: Date,
): Promise<boolean> => (await CONSUME_INVITATION.first(sql, { tenant, tokenHash, now })) !== null

const SET_USER = statement({ takes: { id: 'text', userId: 'text' } })`
  UPDATE "Invitation" SET "userId" = :userId WHERE "tenantId" = :tenant AND "id" = :id`

/** Stores who accepted an invitation. */
export const setInvitationUser = (sql: Sql, tenant: string, id: string, userId: string): Promise<void> =>
  SET_USER.run(sql, { tenant, id, userId })
