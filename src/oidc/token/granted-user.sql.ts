import {
  ACTIVE_BASIS_CONDITION,
  buildMemberCondition,
  type TokenBasis,
} from '../../access/token-status.sql.ts'
import { storedColumns } from '../../database/columns.ts'
import type { Db } from '../../database/handle.ts'
import { findByKey } from '../../database/key-lookup.ts'
import { type RowOf, statement, typed } from '../../database/statement.ts'
import type { SigningAlgorithm } from '../../keys/signing-algorithms.ts'
import type { ClaimMapping } from '../../model/claim-mappings.ts'
import { CLAIM_COLUMNS } from '../../users/claims.ts'
import type { MappedUser } from '../../users/mapped-claims.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'

/** What mappings may read of a user, if the conditions hold. `clientId` is the id of the client. */
const listMappedMembers = (
  user: string,
  clientId: string,
  when: { isMapped: string; withUserMetadata: string; withAppMetadata: string },
): [name: string, sql: string][] => [
  ['externalId', `CASE WHEN ${when.isMapped} THEN ${user}."externalId" END`],
  ['userMetadata', `CASE WHEN ${when.withUserMetadata} THEN ${user}."userMetadata" END`],
  ['appMetadata', `CASE WHEN ${when.withAppMetadata} THEN ${user}."appMetadata" END`],
  [
    'consentedClaims',
    `CASE WHEN ${when.isMapped} THEN (
      SELECT k."claims" FROM "Consent" k WHERE k."tenantId" = :tenant AND k."userId" = ${user}."id" AND k."clientId" = ${clientId}
    ) END`,
  ],
]

/** A user with the claims that the client of a grant may read. */
export type GrantedUser = RowOf<typeof SELECT_GRANTED_USER>

const GRANTED_MEMBERS = listMappedMembers('u', 'g."clientId"', {
  isMapped: `c."claimMappings" <> '[]'`,
  withUserMetadata: `c."claimMappings" @> '[{"source": "userMetadata"}]'`,
  withAppMetadata: `c."claimMappings" @> '[{"source": "appMetadata"}]'`,
})

const SELECT_GRANTED_USER = statement({
  shared: true,
  takes: { userId: 'text', grantId: 'text?', sessionId: 'text?', organizationId: 'text?' },
  returns: {
    ...storedColumns('User', CLAIM_COLUMNS),
    externalId: 'text?',
    userMetadata: 'jsonb?',
    appMetadata: 'jsonb?',
    consentedClaims: 'text[]?',
    clientId: 'text',
    /** Claims that the grant requests individually. */
    claims: typed<ClaimsRequest | null>('jsonb?'),
    /** The algorithm that signs the client's userinfo; null for plain JSON. */
    userInfoSigningAlg: typed<SigningAlgorithm | null>('text?'),
    claimMappings: typed<ClaimMapping[]>('jsonb'),
    requireConsent: 'boolean',
    dpopBoundAccessTokens: 'boolean',
    requireFapiAlgorithms: 'boolean',
  },
})`
  SELECT ${CLAIM_COLUMNS.map((name) => `u."${name}"`).join(', ')}, ${GRANTED_MEMBERS.map(([name, sql]) => `${sql} AS "${name}"`).join(', ')},
    g."clientId", g."claims", c."userInfoSigningAlg", c."claimMappings", c."requireConsent", c."dpopBoundAccessTokens", c."requireFapiAlgorithms"
  FROM "User" u
  JOIN ${findByKey('Grant', { id: ':grantId' })} g ON g."userId" = u."id"
  JOIN "Client" c ON c."tenantId" = :tenant AND c."id" = g."clientId"
  LEFT JOIN ${findByKey('Session', { id: ':sessionId' })} s ON s."userId" = u."id"
  WHERE u."tenantId" = :tenant AND u."id" = :userId AND ${ACTIVE_BASIS_CONDITION}
    AND ${buildMemberCondition(':organizationId')}`

/** The user as claims and mappings read the user, in one JSON object. */
export type ClaimsUserJson = Omit<MappedUser, 'updatedAt'> & { updatedAt: string }

/** What a statement reads of the user for the claims of its client. */
export type ClaimsReading = {
  withClaims: boolean
  /** Whether the client has claim mappings. */
  isMapped: boolean
  withUserMetadata: boolean
  withAppMetadata: boolean
}
/** Parameters of `buildClaimsUserSql`, besides `:clientId`. */
export const CLAIMS_PARAMETERS = {
  withClaims: 'boolean',
  isMapped: 'boolean',
  withUserMetadata: 'boolean',
  withAppMetadata: 'boolean',
} as const satisfies Record<keyof ClaimsReading, string>

/** What the tokens of a client need of the user; `isRequested` for claims that the grant requests. */
export const selectClaimsReading = (
  { idTokenClaims, claimMappings }: { idTokenClaims: boolean; claimMappings: readonly ClaimMapping[] },
  isRequested = false,
): ClaimsReading => ({
  withClaims: idTokenClaims || isRequested || claimMappings.length > 0,
  isMapped: claimMappings.length > 0,
  withUserMetadata: claimMappings.some(({ source }) => source === 'userMetadata'),
  withAppMetadata: claimMappings.some(({ source }) => source === 'appMetadata'),
})

const CLAIMS_MEMBERS = [
  ...CLAIM_COLUMNS.map((name): [string, string] => [name, `u."${name}"`]),
  ...listMappedMembers('u', ':clientId', {
    isMapped: ':isMapped',
    withUserMetadata: ':withUserMetadata',
    withAppMetadata: ':withAppMetadata',
  }),
]
/**
 * A `ClaimsUserJson` of the table `u`, null unless `condition` holds. A statement that reads the user anyway saves another
 * one for the claims of tokens.
 */
export const buildClaimsUserSql = (condition: string): string =>
  `CASE WHEN ${condition} THEN jsonb_build_object(${CLAIMS_MEMBERS.map(([name, sql]) => `'${name}', ${sql}`).join(', ')}) END`

/** The user of a token while the token's grant and session are active; null otherwise. One statement. */
export const selectGrantedUser = (
  db: Db,
  { organizationId = null, ...basis }: TokenBasis,
): Promise<GrantedUser | null> => db.one(SELECT_GRANTED_USER, { ...basis, organizationId })
