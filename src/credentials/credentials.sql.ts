import type { Sql } from '../db.ts'
import { insertEventsSql } from '../events.sql.ts'

// The flag of the user is kept by a trigger: it must be alone with the user's credentials, or two revocations at once
// would each see the other's credential and leave the flag.
const HOLD_OWNER = `
  SELECT u."id" AS "userId", u."roles" FROM "Credential" c JOIN "User" u ON u."tenantId" = $1 AND u."id" = c."userId"
  WHERE c."tenantId" = $1 AND c."id" = $2 FOR NO KEY UPDATE OF u`

/** Makes everything that is about the credential's user wait; null when there is no such credential. */
export async function holdOwner(
  sql: Sql,
  tenant: string,
  credentialId: string,
): Promise<{ userId: string; roles: string[] } | null> {
  const [row] = await sql<{ userId: string; roles: string[] }>(HOLD_OWNER, [tenant, credentialId])
  return row ?? null
}

const DELETE_CREDENTIAL = `
  WITH gone AS (
    DELETE FROM "Credential" WHERE "tenantId" = $1 AND "id" = $2 RETURNING "id"
  ), told AS (${insertEventsSql('$3', { from: 'gone' })})
  SELECT "id" FROM gone`

/** Deletes a credential and tells so; false when somebody was faster. Hold its owner first. */
export async function deleteCredential(
  sql: Sql,
  tenant: string,
  credentialId: string,
  event: object,
): Promise<boolean> {
  return (await sql(DELETE_CREDENTIAL, [tenant, credentialId, JSON.stringify([event])])).length > 0
}
