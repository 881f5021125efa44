import type { Sql } from '../db.ts'

/** Notes until when a client's metadata document need not be read again. */
export async function updateFreshUntil(
  sql: Sql,
  tenant: string,
  clientId: string,
  freshUntil: Date,
): Promise<void> {
  await sql(
    `UPDATE "Client" SET "documentFreshUntil" = $3::timestamptz
     WHERE "tenantId" = $1 AND "id" = $2 AND "registeredBy" = 'document'`,
    [tenant, clientId, freshUntil],
  )
}
