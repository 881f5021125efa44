import type { Sql } from '../db.ts'
import { BASIS_STANDS, type TokenBasis } from './access-tokens.sql.ts'
import { CLAIM_COLUMNS, type ClaimsUser } from './claims.ts'

const SELECT_CLAIMS_USER = `
  SELECT ${CLAIM_COLUMNS.map((name) => `u."${name}"`).join(', ')}
  FROM "User" u
  LEFT JOIN "Grant" g ON g."tenantId" = $1 AND g."id" = $3::text AND g."userId" = u."id"
  LEFT JOIN "Session" s ON s."tenantId" = $1 AND s."id" = $4::text AND s."userId" = u."id"
  WHERE u."tenantId" = $1 AND u."id" = $2 AND g."id" IS NOT NULL AND ${BASIS_STANDS}`

/** The person of an access token, while the token's grant and session stand; null otherwise. One statement. */
export async function selectClaimsUser(
  sql: Sql,
  tenant: string,
  basis: TokenBasis,
): Promise<ClaimsUser | null> {
  const [row] = await sql<ClaimsUser>(SELECT_CLAIMS_USER, [
    tenant,
    basis.userId,
    basis.grantId,
    basis.sessionId,
  ])
  return row ?? null
}
