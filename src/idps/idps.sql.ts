import type { Sql } from '../db.ts'
import { insertEventsSql } from '../events.sql.ts'
import type { IdentityProvider } from '../generated/prisma/client.ts'

/** Columns that callers write, secrets sealed. */
export const CHANGEABLE = [
  'name',
  'clientId',
  'clientSecret',
  'scopes',
  'issuer',
  'authorizationEndpoint',
  'tokenEndpoint',
  'userInfoEndpoint',
  'jwksUri',
  'idTokenSigningAlg',
  'idTokenSigningKey',
  'platformTeamId',
  'platformKid',
] as const satisfies (keyof IdentityProvider)[]
export type IdpColumns = Pick<IdentityProvider, (typeof CHANGEABLE)[number]>

const list = (of = ''): string => CHANGEABLE.map((column) => `${of}"${column}"`).join(', ')

const INSERT_IDP = `
  WITH made AS (
    INSERT INTO "IdentityProvider" ("tenantId", "id", "type", ${list()})
    SELECT $1, n."id", n."type", ${list('n.')} FROM jsonb_populate_record(NULL::"IdentityProvider", $2::jsonb) n
    RETURNING *
  ), told AS (${insertEventsSql('$3', { from: 'made' })})
  SELECT * FROM made`

/** Writes an identity provider with its event: one statement. The primary key refuses an id that is taken. */
export async function insertIdp(
  sql: Sql,
  tenant: string,
  idp: Partial<IdpColumns> & { id: string; type: string; name: string },
  event: object,
): Promise<IdentityProvider> {
  const [row] = await sql<IdentityProvider>(INSERT_IDP, [
    tenant,
    JSON.stringify(idp),
    JSON.stringify([event]),
  ])
  if (!row) throw new Error('the identity provider was not written')
  return row
}

/** Makes other changes of the provider, and new links to it, wait until the transaction ends; null when there is none. */
export async function holdIdp(sql: Sql, tenant: string, id: string): Promise<IdentityProvider | null> {
  const [row] = await sql<IdentityProvider>(
    `SELECT * FROM "IdentityProvider" WHERE "tenantId" = $1 AND "id" = $2 FOR UPDATE`,
    [tenant, id],
  )
  return row ?? null
}

const UPDATE_IDP = `
  WITH told AS (${insertEventsSql('$4')})
  UPDATE "IdentityProvider" t SET ${CHANGEABLE.map((column) => `"${column}" = n."${column}"`).join(', ')},
    "updatedAt" = GREATEST(now(), t."updatedAt" + interval '1 millisecond')
  FROM jsonb_populate_record(NULL::"IdentityProvider", $3::jsonb) n
  WHERE t."tenantId" = $1 AND t."id" = $2 RETURNING t.*`

/** Writes all changeable columns of a held provider with the event: one statement. */
export async function updateIdpRow(
  sql: Sql,
  tenant: string,
  id: string,
  columns: IdpColumns,
  event: object,
): Promise<IdentityProvider> {
  const values = [JSON.stringify(columns), JSON.stringify([event])]
  const [row] = await sql<IdentityProvider>(UPDATE_IDP, [tenant, id, ...values])
  if (!row) throw new Error('the identity provider was not written')
  return row
}

const ROLES_OF_LINKED = `
  SELECT DISTINCT r."role" FROM "IdpUser" l
  JOIN "User" u ON u."tenantId" = $1 AND u."id" = l."userId", unnest(u."roles") AS r("role")
  WHERE l."tenantId" = $1 AND l."idpId" = $2`

/** The roles of the people who are linked to a provider. */
export async function selectRolesOfLinked(sql: Sql, tenant: string, id: string): Promise<string[]> {
  const rows = await sql<{ role: string }>(ROLES_OF_LINKED, [tenant, id])
  return rows.map(({ role }) => role)
}

// In the order of an index, from where the last batch ended: what it removed is still in the index.
const DELETE_LINKS = `
  WITH batch AS (
    SELECT "id", "userId" FROM "IdpUser" WHERE "tenantId" = $1 AND "idpId" = $2 AND "userId" > $3
    ORDER BY "userId" LIMIT $4::int
  ), gone AS (
    DELETE FROM "IdpUser" WHERE "tenantId" = $1 AND "id" IN (SELECT "id" FROM batch)
  )
  SELECT count(*)::int AS "count", max("userId") AS "lastUserId" FROM batch`

/** Removes up to `limit` links of users after one to a held provider; answers how many there were, and the last user. */
export async function deleteLinks(
  sql: Sql,
  tenant: string,
  id: string,
  { afterUserId, limit }: { afterUserId: string; limit: number },
): Promise<{ count: number; lastUserId: string | null }> {
  const [row] = await sql<{ count: number; lastUserId: string | null }>(DELETE_LINKS, [
    tenant,
    id,
    afterUserId,
    limit,
  ])
  return row ?? { count: 0, lastUserId: null }
}

const DELETE_IDP = `
  WITH told AS (${insertEventsSql('$3')})
  DELETE FROM "IdentityProvider" WHERE "tenantId" = $1 AND "id" = $2`

/** Deletes a held provider, with the event. */
export async function deleteIdpRow(sql: Sql, tenant: string, id: string, event: object): Promise<void> {
  await sql(DELETE_IDP, [tenant, id, JSON.stringify([event])])
}
