import { ACTIVE_BASIS_CONDITION, type TokenBasis } from '../../access/token-status.sql.ts'
import { storedColumns } from '../../database/columns.ts'
import type { Db } from '../../database/handle.ts'
import { findByKey } from '../../database/key-lookup.ts'
import { type RowOf, statement, typed } from '../../database/statement.ts'
import type { SigningAlgorithm } from '../../keys/signing-algorithms.ts'
import { CLAIM_COLUMNS, type ClaimsUser } from '../../users/claims.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'

/** A user with the claims that the client of a grant may read. */
export type GrantedUser = RowOf<typeof SELECT_GRANTED_USER>

const SELECT_GRANTED_USER = statement({
  shared: true,
  takes: { userId: 'text', grantId: 'text?', sessionId: 'text?' },
  returns: {
    ...storedColumns('User', CLAIM_COLUMNS),
    clientId: 'text',
    /** Claims that the grant requests individually. */
    claims: typed<ClaimsRequest | null>('jsonb?'),
    /** The algorithm that signs the client's userinfo; null for plain JSON. */
    userInfoSigningAlg: typed<SigningAlgorithm | null>('text?'),
    dpopBoundAccessTokens: 'boolean',
    requireFapiAlgorithms: 'boolean',
  },
})`
  SELECT ${CLAIM_COLUMNS.map((name) => `u."${name}"`).join(', ')}, g."clientId", g."claims", c."userInfoSigningAlg",
    c."dpopBoundAccessTokens", c."requireFapiAlgorithms"
  FROM "User" u
  JOIN ${findByKey('Grant', { id: ':grantId' })} g ON g."userId" = u."id"
  JOIN "Client" c ON c."tenantId" = :tenant AND c."id" = g."clientId"
  LEFT JOIN ${findByKey('Session', { id: ':sessionId' })} s ON s."userId" = u."id"
  WHERE u."tenantId" = :tenant AND u."id" = :userId AND ${ACTIVE_BASIS_CONDITION}`

/** The columns of a user from which claims are built, in one JSON object. */
export type ClaimsUserJson = Omit<ClaimsUser, 'updatedAt'> & { updatedAt: string }
/**
 * The columns of `CLAIM_COLUMNS` of the table `user` as one JSON object, null unless `condition` holds. A statement that
 * reads the user anyway saves another one for the claims of an ID token.
 */
export const buildClaimsUserSql = (user: string, condition: string): string =>
  `CASE WHEN ${condition} THEN jsonb_build_object(${CLAIM_COLUMNS.map((name) => `'${name}', ${user}."${name}"`).join(', ')}) END`

/** The user of a token while the token's grant and session are active; null otherwise. One statement. */
export const selectGrantedUser = (
  db: Db,
  { userId, grantId, sessionId }: TokenBasis,
): Promise<GrantedUser | null> => db.one(SELECT_GRANTED_USER, { userId, grantId, sessionId })
