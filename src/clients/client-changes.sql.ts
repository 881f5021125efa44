import { CLIENT_TYPES, CLIENT_WITH_SECRETS, type ClientRow, type SecretRow } from '../access/client.sql.ts'
import { DELETE_CLIENT_GRANTS } from '../access/revocation/grant-revocation.sql.ts'
import { blockRedemptions } from '../access/revocation/revocation.sql.ts'
import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'
import { CLIENT_FIELDS } from './clients.fields.ts'

/** Columns that an update may write. */
export const CHANGEABLE_COLUMNS = [
  ...(Object.keys(CLIENT_FIELDS) as (keyof typeof CLIENT_FIELDS)[]),
  'hasDefaultOrigins',
] as const
export type ChangeableClient = Pick<ClientRow, (typeof CHANGEABLE_COLUMNS)[number]>

// Sign-ins are not blocked, because they lock the key of the row only.
const LOCK_CLIENT = statement(CLIENT_TYPES)`${CLIENT_WITH_SECRETS} FOR NO KEY UPDATE OF c`

/** Locks a client until the transaction ends and returns it with its secrets; null when it does not exist. */
export async function lockClientRow(
  tx: Db,
  clientId: string,
): Promise<{ client: ClientRow; secrets: SecretRow[] } | null> {
  const row = await tx.one(LOCK_CLIENT, { clientId })
  if (!row) return null
  const { secrets, ...client } = row
  return { client, secrets }
}

// The session of a grant is started with the grant locked and waits for the client, as its foreign key does (FOR KEY
// SHARE). The deletion takes these rows in the same order, so that they cannot deadlock. Its first statement has ended
// the redemptions of codes: it sees and takes every grant.
const DELETE_GRANTS_AND_LOCK = statement({
  takes: { clientId: 'text' },
  returns: storedColumns('Client', ['allTenants', 'scopes']),
})`
  WITH deleted_grants AS (${DELETE_CLIENT_GRANTS}
  )
  SELECT "allTenants", "scopes" FROM "Client"
  WHERE "tenantId" = :tenant AND "id" = :clientId AND (SELECT count(*) FROM deleted_grants) >= 0 FOR UPDATE`

/**
 * Deletes a client's device codes and grants, then locks the client, so that inserts of rows that refer to it wait
 * until the transaction ends: two statements. Null when the client does not exist.
 */
export async function lockClientForDelete(
  tx: Db,
  clientId: string,
): Promise<Pick<ClientRow, 'allTenants' | 'scopes'> | null> {
  await blockRedemptions(tx, clientId)
  return tx.one(DELETE_GRANTS_AND_LOCK, { clientId })
}
