import type { Db } from '../../database/handle.ts'
import { statement } from '../../database/statement.ts'

// The unique key decides between concurrent uses in any number of processes.
const INSERT_USED_PROOF = statement({
  takes: { proofHash: 'bytea', expiresAt: 'timestamptz' },
  returns: { inserted: 'int' },
})`
  INSERT INTO "UsedProof" ("tenantId", "proofHash", "expiresAt") VALUES (:tenant, :proofHash, :expiresAt)
  ON CONFLICT DO NOTHING RETURNING 1 AS "inserted"`

/** Marks a proof as used; false when it was used before. One statement. */
export async function insertUsedProof(db: Db, proofHash: Buffer, expiresAt: Date): Promise<boolean> {
  return (await db.one(INSERT_USED_PROOF, { proofHash, expiresAt })) !== null
}
