import type { Sql } from '../../db.ts'

/** What was authorised: a token can be for no more, however often it is refreshed. */
export type Reach = { scopes: string[]; resources: string[] }

const SELECT_CODE_REACH = `
  SELECT "scopes", "resources" FROM "AuthorizationCode"
  WHERE "tenantId" = $1 AND "codeHash" = $2::bytea AND "clientId" = $3`

const SELECT_DEVICE_REACH = `
  SELECT "scopes", "resources" FROM "DeviceCode"
  WHERE "tenantId" = $1 AND "codeHash" = $2::bytea AND "clientId" = $3`

const SELECT_GRANT_REACH = `
  SELECT "scopes", "resources" FROM "Grant"
  WHERE "tenantId" = $1 AND "id" = $2 AND "secretHash" = $3::bytea AND "clientId" = $4`

/** What a code of this client was issued for; null when there is none. */
export async function selectCodeReach(
  sql: Sql,
  tenant: string,
  codeHash: Buffer,
  clientId: string,
): Promise<Reach | null> {
  const [row] = await sql<Reach>(SELECT_CODE_REACH, [tenant, codeHash, clientId])
  return row ?? null
}

/** What a device code of this client is for; null when there is none. */
export async function selectDeviceReach(
  sql: Sql,
  tenant: string,
  codeHash: Buffer,
  clientId: string,
): Promise<Reach | null> {
  const [row] = await sql<Reach>(SELECT_DEVICE_REACH, [tenant, codeHash, clientId])
  return row ?? null
}

/** What the grant of a refresh token of this client is for; null when there is none. */
export async function selectGrantReach(
  sql: Sql,
  tenant: string,
  token: { grantId: string; secretHash: Buffer },
  clientId: string,
): Promise<Reach | null> {
  const [row] = await sql<Reach>(SELECT_GRANT_REACH, [tenant, token.grantId, token.secretHash, clientId])
  return row ?? null
}
