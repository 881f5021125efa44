import type { Sql } from '../database/db.ts'
import { statement } from '../database/statement.ts'

const UPDATE_FRESH_UNTIL = statement({ takes: { clientId: 'text', freshUntil: 'timestamptz' } })`
  UPDATE "Client" SET "documentFreshUntil" = :freshUntil
  WHERE "tenantId" = :tenant AND "id" = :clientId AND "registeredBy" = 'document'`

/** Stores until when a client's metadata document is fresh. */
export const updateDocumentFreshUntil = (
  sql: Sql,
  tenant: string,
  clientId: string,
  freshUntil: Date,
): Promise<void> => UPDATE_FRESH_UNTIL.run(sql, { tenant, clientId, freshUntil })
