import { sha256 } from '../../core/crypto.ts'
import type { Db } from '../../database/handle.ts'
import { statement } from '../../database/statement.ts'

/** Used proofs are stored longer than they are valid, because the clocks of processes differ. */
const CLOCK_SLACK_SECONDS = 60

/** A signed token that is valid for one use. */
export type SingleUseToken = {
  kind: 'client assertion' | 'dpop' | 'logout token' | 'signal'
  /**
   * The client of an assertion, the thumbprint of the key of a DPoP proof, or the identity provider of a logout
   * token or a signal: the namespace of `jti`.
   */
  owner: string
  jti: string
  /** When the token expires, in seconds since 1970. */
  untilSeconds: number
}

// The unique key decides between concurrent uses in any number of processes.
const INSERT_USED_PROOF = statement({
  takes: { proofHash: 'bytea', expiresAt: 'timestamptz' },
  returns: { inserted: 'int' },
})`
  INSERT INTO "UsedProof" ("tenantId", "proofHash", "expiresAt") VALUES (:tenant, :proofHash, :expiresAt)
  ON CONFLICT DO NOTHING RETURNING 1 AS "inserted"`

/**
 * Records the use of a token; false when any process has recorded it before (RFC 7523, section 3; RFC 9449,
 * section 11.1). Call it after the signature was verified, since each call stores a row. One statement.
 */
export const recordFirstUse = async (
  db: Db,
  { kind, owner, jti, untilSeconds }: SingleUseToken,
): Promise<boolean> => {
  const proofHash = sha256(JSON.stringify([kind, owner, jti]))
  const expiresAt = new Date((untilSeconds + CLOCK_SLACK_SECONDS) * 1000)
  return (await db.one(INSERT_USED_PROOF, { proofHash, expiresAt })) !== null
}
