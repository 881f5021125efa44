import type { Db } from '../database/handle.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'
import type { CredentialType } from '../model/credential-types.ts'

// A trigger keeps the user's flag. Without the lock, two concurrent revocations would each see the other's
// credential and leave the flag set.
const LOCK_OWNER = statement({
  takes: { credentialId: 'text' },
  returns: { userId: 'text', roles: 'text[]', type: typed<CredentialType>('text') },
})`
  SELECT u."id" AS "userId", u."roles", c."type"
  FROM "Credential" c JOIN "User" u ON u."tenantId" = :tenant AND u."id" = c."userId"
  WHERE c."tenantId" = :tenant AND c."id" = :credentialId FOR NO KEY UPDATE OF u`

/** Locks the row of the credential's user; null when there is no such credential. */
export const lockCredentialOwner = (db: Db, credentialId: string): Promise<RowOf<typeof LOCK_OWNER> | null> =>
  db.one(LOCK_OWNER, { credentialId })

const DELETE_CREDENTIAL = statement({
  takes: { credentialId: 'text', events: 'jsonb' },
  returns: { id: 'text' },
})`
  WITH deleted AS (
    DELETE FROM "Credential" WHERE "tenantId" = :tenant AND "id" = :credentialId RETURNING "id"
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'deleted' })})
  SELECT "id" FROM deleted`

/** Deletes a credential with its event; false when it was deleted before. Lock its owner first. */
export async function deleteCredential(db: Db, credentialId: string, event: object): Promise<boolean> {
  return (await db.one(DELETE_CREDENTIAL, { credentialId, events: [event] })) !== null
}
