import type { Db } from '../../database/handle.ts'
import { type RowOf, statement } from '../../database/statement.ts'

export type ClientDocument = RowOf<typeof SELECT_CLIENT_DOCUMENTS>

const SELECT_CLIENT_DOCUMENTS = statement({
  shared: true,
  takes: { clientId: 'text' },
  returns: { documentId: 'text', digest: 'text', text: 'text' },
})`
  SELECT "documentId", "digest", "text" FROM "TrustedDocument"
  WHERE "tenantId" = :tenant AND "clientId" = :clientId`

/** The documents that are registered for a client, whose number and bytes are limited. */
export const selectClientDocuments = (db: Db, clientId: string): Promise<ClientDocument[]> =>
  db.many(SELECT_CLIENT_DOCUMENTS, { clientId })
