import { sha256 } from '../../crypto.ts'
import { sql } from '../../db.ts'
import { insertUsedProof } from './used-proofs.sql.ts'

/** Clocks of processes differ: what is used is remembered for longer than any of them would take it. */
const SLACK_SECONDS = 60

/** A signed proof that is good for one use: client assertions name their client, DPoP proofs their key. */
export type SingleUse = {
  kind: 'client assertion' | 'dpop'
  /** Whose `jti` it is; others may have the same. */
  owner: string
  jti: string
  /** From when on it would be refused anyway, in seconds since 1970. */
  untilSeconds: number
}

/**
 * Whether a proof is used for the first time, on whatever process (RFC 7523, section 3; RFC 9449, section 11.1). Call it
 * once the signature is known to be good: anybody could write any number of others. One statement.
 */
export const isFirstUse = (tenant: string, { kind, owner, jti, untilSeconds }: SingleUse): Promise<boolean> =>
  insertUsedProof(
    sql,
    tenant,
    sha256(JSON.stringify([kind, owner, jti])),
    new Date((untilSeconds + SLACK_SECONDS) * 1000),
  )
