import type { Sql } from '../../db.ts'

/** What was authorised: a token can be for no more, however often it is refreshed. */
export type Reach = { scopes: string[]; resources: string[] }

/** What a token request comes with: a code, a device code, or the grant that a refresh token names with its secret. */
export type Presented =
  | { from: 'AuthorizationCode' | 'DeviceCode'; codeHash: Buffer }
  | { from: 'Grant'; grantId: string; secretHash: Buffer }

const selectCode = (table: string): string => `
  SELECT "scopes", "resources" FROM "${table}"
  WHERE "tenantId" = $1 AND "clientId" = $2 AND "codeHash" = $3::bytea`

const SELECT_REACH = {
  AuthorizationCode: selectCode('AuthorizationCode'),
  DeviceCode: selectCode('DeviceCode'),
  Grant: `
  SELECT "scopes", "resources" FROM "Grant"
  WHERE "tenantId" = $1 AND "clientId" = $2 AND "secretHash" = $3::bytea AND "id" = $4`,
}

/** What it was issued to this client for; null when there is no such thing. */
export async function selectReach(
  sql: Sql,
  tenant: string,
  presented: Presented,
  clientId: string,
): Promise<Reach | null> {
  const known = presented.from === 'Grant' ? [presented.secretHash, presented.grantId] : [presented.codeHash]
  const [row] = await sql<Reach>(SELECT_REACH[presented.from], [tenant, clientId, ...known])
  return row ?? null
}
