import type { JWK } from 'jose'
import type { Sql } from '../db.ts'
import type { SigningAlgorithm } from '../signing-algorithms.ts'

export type SigningKeyRow = {
  id: string
  alg: SigningAlgorithm
  publicJwk: JWK
  privateKey: string
  activeAt: Date
}

/** Keys that are published now, oldest first. */
export function selectSigningKeys(sql: Sql, tenant: string): Promise<SigningKeyRow[]> {
  return sql(
    `SELECT "id", "alg", "publicJwk", "privateKey", "activeAt" FROM "SigningKey"
     WHERE "tenantId" = $1 AND ("expiresAt" IS NULL OR "expiresAt" > now()) ORDER BY "activeAt", "createdAt"`,
    [tenant],
  )
}

export async function insertSigningKey(
  sql: Sql,
  tenant: string,
  key: Omit<SigningKeyRow, 'activeAt'>,
): Promise<void> {
  await sql(
    `INSERT INTO "SigningKey" ("tenantId", "id", "alg", "publicJwk", "privateKey", "activeAt")
     VALUES ($1, $2, $3, $4::jsonb, $5, now())`,
    [tenant, key.id, key.alg, JSON.stringify(key.publicJwk), key.privateKey],
  )
}
