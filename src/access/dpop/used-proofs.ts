import { sha256 } from '../../core/crypto.ts'
import type { Db } from '../../database/handle.ts'
import { insertUsedProof } from './used-proofs.sql.ts'

/** Used proofs are stored longer than they are valid, because the clocks of processes differ. */
const CLOCK_SLACK_SECONDS = 60

/** A signed token that is valid for one use. */
export type SingleUseToken = {
  kind: 'client assertion' | 'dpop' | 'logout token'
  /**
   * The client of an assertion, the thumbprint of the key of a DPoP proof, or the identity provider of a logout
   * token: the namespace of `jti`.
   */
  owner: string
  jti: string
  /** When the token expires, in seconds since 1970. */
  untilSeconds: number
}

/**
 * Records the use of a token; false when any process has recorded it before (RFC 7523, section 3; RFC 9449,
 * section 11.1). Call it after the signature was verified, since each call stores a row. One statement.
 */
export const recordFirstUse = (
  db: Db,
  { kind, owner, jti, untilSeconds }: SingleUseToken,
): Promise<boolean> =>
  insertUsedProof(
    db,
    sha256(JSON.stringify([kind, owner, jti])),
    new Date((untilSeconds + CLOCK_SLACK_SECONDS) * 1000),
  )
