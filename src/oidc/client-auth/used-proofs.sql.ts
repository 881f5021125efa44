import type { Sql } from '../../db.ts'

// The unique key decides between any number of presentations at once, on however many processes.
const INSERT_USED_PROOF = `
  INSERT INTO "UsedProof" ("tenantId", "proofHash", "expiresAt") VALUES ($1, $2::bytea, $3::timestamptz)
  ON CONFLICT DO NOTHING RETURNING 1`

/** Marks a proof as used; false when it was used before. One statement. */
export async function insertUsedProof(
  sql: Sql,
  tenant: string,
  proofHash: Buffer,
  expiresAt: Date,
): Promise<boolean> {
  return (await sql(INSERT_USED_PROOF, [tenant, proofHash, expiresAt])).length > 0
}
