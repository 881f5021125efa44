import type { Sql } from '../db.ts'
import type { Client } from '../generated/prisma/client.ts'
import type { SigningAlgorithm } from '../signing-algorithms.ts'

/** The row. Of the algorithms only those get in that tokens are signed by. */
export type ClientRow = Omit<Client, 'idTokenSigningAlg' | 'userInfoSigningAlg'> & {
  idTokenSigningAlg: SigningAlgorithm | null
  userInfoSigningAlg: SigningAlgorithm | null
}
export type SecretJson = { hash: string; expiresAt: string | null }

/** The client and all its secrets in one row, so that authenticating a client reads once. */
export const SELECT_CLIENT = `
  SELECT c.*, (
    SELECT COALESCE(jsonb_agg(jsonb_build_object('hash', encode(s."secretHash", 'hex'), 'expiresAt', s."expiresAt")), '[]')
    FROM "ClientSecret" s WHERE s."tenantId" = c."tenantId" AND s."clientId" = c."id"
  ) AS "secrets"
  FROM "Client" c WHERE c."tenantId" = $1 AND c."id" = $2`

export async function selectClient(
  sql: Sql,
  tenant: string,
  clientId: string,
): Promise<{ client: ClientRow; secrets: SecretJson[] } | null> {
  const [row] = await sql<ClientRow & { secrets: SecretJson[] }>(SELECT_CLIENT, [tenant, clientId])
  if (!row) return null
  const { secrets, ...client } = row
  return { client, secrets }
}

/** Columns that an ensured client has; the others keep their defaults. */
export type EnsuredClient = Pick<
  ClientRow,
  | 'id'
  | 'name'
  | 'description'
  | 'appType'
  | 'type'
  | 'callbacks'
  | 'allowedLogoutUrls'
  | 'scopes'
  | 'allTenants'
  | 'requireConsent'
>
const ENSURED = [
  'name',
  'description',
  'appType',
  'type',
  'callbacks',
  'allowedLogoutUrls',
  'scopes',
  'allTenants',
  'requireConsent',
] as const satisfies (keyof EnsuredClient)[]

const columnList = (prefix = ''): string => ENSURED.map((name) => `${prefix}"${name}"`).join(', ')

/**
 * Makes the client, or puts the ensured columns back where they differ. Whoever comes second waits for the first.
 * 'same' when there was nothing to do.
 */
export async function upsertClient(
  sql: Sql,
  tenant: string,
  client: EnsuredClient,
): Promise<'created' | 'changed' | 'same'> {
  const [row] = await sql<{ created: boolean }>(
    `INSERT INTO "Client" AS c ("tenantId", "id", ${columnList()})
     VALUES ($1, $2, $3, $4, $5, $6, $7::text[], $8::text[], $9::text[], $10::boolean, $11::boolean)
     ON CONFLICT ("tenantId", "id") DO UPDATE SET (${columnList()}, "updatedAt") = (${columnList('EXCLUDED.')}, now())
     WHERE (${columnList('c.')}) IS DISTINCT FROM (${columnList('EXCLUDED.')})
     RETURNING xmax = 0 AS "created"`,
    [tenant, client.id, ...ENSURED.map((name) => client[name])],
  )
  return row ? (row.created ? 'created' : 'changed') : 'same'
}

/** Makes `secretHash` the client's only secret; false when it was that already. */
export async function replaceSecrets(
  sql: Sql,
  tenant: string,
  clientId: string,
  secretHash: Buffer,
): Promise<boolean> {
  // FOR UPDATE orders processes that start at once, so that none of them undoes half of another's work.
  await sql(`SELECT 1 FROM "Client" WHERE "tenantId" = $1 AND "id" = $2 FOR UPDATE`, [tenant, clientId])
  const rows = await sql(
    `WITH removed AS (
       DELETE FROM "ClientSecret" WHERE "tenantId" = $1 AND "clientId" = $2
       AND ("secretHash" <> $3 OR "expiresAt" IS NOT NULL) RETURNING 1
     ), added AS (
       INSERT INTO "ClientSecret" ("tenantId", "clientId", "secretHash") VALUES ($1, $2, $3)
       ON CONFLICT ("tenantId", "secretHash") DO NOTHING RETURNING 1
     )
     SELECT 1 FROM removed UNION ALL SELECT 1 FROM added`,
    [tenant, clientId, secretHash],
  )
  return rows.length > 0
}
