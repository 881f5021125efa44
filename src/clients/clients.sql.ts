import type { Sql } from '../db.ts'
import type { Client } from '../generated/prisma/client.ts'

export type ClientRow = Client
type SecretJson = { hash: string; expiresAt: string | null }

/** The client and all its secrets in one row, so that authenticating a client reads once. */
const SELECT_CLIENT = `
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
