import type { Sql } from '../database/db.ts'
import { statement } from '../database/statement.ts'

// The unique key decides between concurrent uses in any number of processes.
const INSERT_USED_PROOF = statement({
  takes: { proofHash: 'bytea', expiresAt: 'timestamptz' },
  returns: { inserted: 'int' },
})`
  INSERT INTO "UsedProof" ("tenantId", "proofHash", "expiresAt") VALUES (:tenant, :proofHash, :expiresAt)
  ON CONFLICT DO NOTHING RETURNING 1 AS "inserted"`

/** Marks a proof as used; false when it was used before. One statement. */
export async function insertUsedProof(
  sql: Sql,
  tenant: string,
  proofHash: Buffer,
  expiresAt: Date,
): Promise<boolean> {
  return (await INSERT_USED_PROOF.first(sql, { tenant, proofHash, expiresAt })) !== null
}
