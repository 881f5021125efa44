import type { Sql } from './db.ts'

export type KeyRow = {
  /** Whether this call took the key. `createdAt` names its claim from now on. */
  isClaimed: boolean
  requestHash: Buffer
  /** Null while the first call is under way. */
  answer: string | null
  createdAt: Date
}

const LATER = `GREATEST(now(), k."createdAt" + interval '1 millisecond')`

// One that expired is as good as none. The second part does not see what somebody else has just claimed.
const CLAIM = `
  WITH claimed AS (
    INSERT INTO "IdempotencyKey" AS k ("tenantId", "keyHash", "requestHash", "expiresAt")
    VALUES ($1, $2::bytea, $3::bytea, now() + make_interval(secs => $4::int))
    ON CONFLICT ("tenantId", "keyHash") DO UPDATE
    SET "requestHash" = $3::bytea, "answer" = NULL, "expiresAt" = EXCLUDED."expiresAt", "createdAt" = ${LATER}
    WHERE k."expiresAt" <= now()
    RETURNING "requestHash", "answer", "createdAt"
  )
  SELECT true AS "isClaimed", * FROM claimed
  UNION ALL
  SELECT false, "requestHash", "answer", "createdAt" FROM "IdempotencyKey"
  WHERE "tenantId" = $1 AND "keyHash" = $2::bytea AND NOT EXISTS (SELECT FROM claimed)`

/** Takes a key for `seconds` unless it is taken; answers the row either way. Null when it came and went meanwhile. */
export async function claimKey(
  sql: Sql,
  tenant: string,
  keyHash: Buffer,
  requestHash: Buffer,
  seconds: number,
): Promise<KeyRow | null> {
  const [row] = await sql<KeyRow>(CLAIM, [tenant, keyHash, requestHash, seconds])
  return row ?? null
}

// Whoever took longer than the claim lasts finds another's, and leaves it alone.
const HELD = `"tenantId" = $1 AND "keyHash" = $2::bytea AND "createdAt" = $3::timestamptz`

/** Keeps the answer for `seconds` from now. */
export async function storeAnswer(
  sql: Sql,
  tenant: string,
  claim: { keyHash: Buffer; createdAt: Date },
  answer: string,
  seconds: number,
): Promise<void> {
  await sql(
    `UPDATE "IdempotencyKey" SET "answer" = $4, "expiresAt" = now() + make_interval(secs => $5::int) WHERE ${HELD}`,
    [tenant, claim.keyHash, claim.createdAt, answer, seconds],
  )
}

/** Gives the key back. */
export async function releaseKey(
  sql: Sql,
  tenant: string,
  claim: { keyHash: Buffer; createdAt: Date },
): Promise<void> {
  await sql(`DELETE FROM "IdempotencyKey" WHERE ${HELD}`, [tenant, claim.keyHash, claim.createdAt])
}
