import type { Sql } from '../../db.ts'
import type { SigningAlgorithm } from '../../signing-algorithms.ts'
import type { ClaimsRequest } from '../authorize/claims-request.ts'
import { BASIS_STANDS, type TokenBasis } from '../token/access-tokens.sql.ts'
import { CLAIM_COLUMNS, type ClaimsUser } from './claims.ts'

/** A person as a grant shows them to its client. */
export type GrantedPerson = ClaimsUser & {
  clientId: string
  /** Claims that the grant was asked for one by one. */
  claims: ClaimsRequest | null
  /** What the client wants userinfo signed by; null for plain JSON. */
  userInfoSigningAlg: SigningAlgorithm | null
}

const SELECT_GRANTED_PERSON = `
  SELECT ${CLAIM_COLUMNS.map((name) => `u."${name}"`).join(', ')}, g."clientId", g."claims", c."userInfoSigningAlg"
  FROM "User" u
  JOIN "Grant" g ON g."tenantId" = $1 AND g."id" = $3::text AND g."userId" = u."id"
  JOIN "Client" c ON c."tenantId" = $1 AND c."id" = g."clientId"
  LEFT JOIN "Session" s ON s."tenantId" = $1 AND s."id" = $4::text AND s."userId" = u."id"
  WHERE u."tenantId" = $1 AND u."id" = $2 AND ${BASIS_STANDS}`

/** The person of a token, while the token's grant and session stand; null otherwise. One statement. */
export async function selectGrantedPerson(
  sql: Sql,
  tenant: string,
  basis: TokenBasis,
): Promise<GrantedPerson | null> {
  const [row] = await sql<GrantedPerson>(SELECT_GRANTED_PERSON, [
    tenant,
    basis.userId,
    basis.grantId,
    basis.sessionId,
  ])
  return row ?? null
}
