import { buildHeldGroupsSql, buildHeldRolesSql } from '../../access/effective-access.sql.ts'
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
import {
  type ClaimMapping,
  type ClaimSource,
  listClientMappings,
  MAPPED_ORGANIZATION_FIELDS,
} from '../../model/claim-mappings.ts'
import { CLAIM_COLUMNS } from '../../users/claims.ts'
import type { MappedUser } from '../../users/mapped-claims.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'

/** Whether mappings read this source; any source without an argument. */
type Reads = (source?: ClaimSource) => string

/**
 * What mappings may read of the user `u`, where `reads` holds. `clientId` is SQL of the id of the client, `organizationId` that
 * of the organization of the token.
 */
const listMappedMembers = (reads: Reads, clientId: string, organizationId: string) =>
  [
    ['externalId', reads(), 'u."externalId"'],
    ['userMetadata', reads('userMetadata'), 'u."userMetadata"'],
    ['appMetadata', reads('appMetadata'), 'u."appMetadata"'],
    ['appRoles', reads('roles'), buildHeldRolesSql('u."id"', organizationId)],
    ['groups', reads('groups'), buildHeldGroupsSql('u."id"', organizationId)],
    [
      'organization',
      reads('organization'),
      `(SELECT jsonb_build_object(${[...MAPPED_ORGANIZATION_FIELDS, 'metadata'].map((name) => `'${name}', o_."${name}"`).join(', ')})
        FROM "Organization" o_ WHERE o_."tenantId" = :tenant AND o_."id" = ${organizationId})`,
    ],
    [
      'consentedClaims',
      reads(),
      `(SELECT k_."claims" FROM "Consent" k_ WHERE k_."tenantId" = :tenant AND k_."userId" = u."id" AND k_."clientId" = ${clientId})`,
    ],
  ].map(([name, condition, sql]) => [name, `CASE WHEN ${condition} THEN ${sql} END`] as const)

/** A user with the claims that the client of a grant may read. */
export type GrantedUser = RowOf<typeof SELECT_GRANTED_USER>

const GRANTED_MEMBERS = listMappedMembers(
  (source) =>
    `(c."claimMappings" ${source ? `@> '[{"source": "${source}"}]'` : `<> '[]'`}${source && source !== 'groups' ? '' : ' OR c."groupsClaim"'})`,
  'g."clientId"',
  ':organizationId',
)

const SELECT_GRANTED_USER = statement({
  shared: true,
  takes: { userId: 'text', grantId: 'text?', sessionId: 'text?', organizationId: 'text?' },
  returns: {
    ...storedColumns('User', CLAIM_COLUMNS),
    externalId: 'text?',
    userMetadata: 'jsonb?',
    appMetadata: 'jsonb?',
    appRoles: typed<MappedUser['appRoles']>('jsonb?'),
    groups: typed<MappedUser['groups']>('jsonb?'),
    organization: typed<MappedUser['organization']>('jsonb?'),
    consentedClaims: 'text[]?',
    clientId: 'text',
    /** Claims that the grant requests individually. */
    claims: typed<ClaimsRequest | null>('jsonb?'),
    /** The algorithm that signs the client's userinfo; null for plain JSON. */
    userInfoSigningAlg: typed<SigningAlgorithm | null>('text?'),
    claimMappings: typed<ClaimMapping[]>('jsonb'),
    groupsClaim: 'boolean',
    requireConsent: 'boolean',
    dpopBoundAccessTokens: 'boolean',
    requireFapiAlgorithms: 'boolean',
  },
})`
  SELECT ${CLAIM_COLUMNS.map((name) => `u."${name}"`).join(', ')}, ${GRANTED_MEMBERS.map(([name, sql]) => `${sql} AS "${name}"`).join(', ')},
    g."clientId", g."claims", c."userInfoSigningAlg", c."claimMappings", c."groupsClaim", c."requireConsent", c."dpopBoundAccessTokens", c."requireFapiAlgorithms"
  FROM "User" u
  JOIN ${findByKey('Grant', { id: ':grantId' })} g ON g."userId" = u."id"
  JOIN "Client" c ON c."tenantId" = :tenant AND c."id" = g."clientId"
  LEFT JOIN ${findByKey('Session', { id: ':sessionId' })} s ON s."userId" = u."id"
  WHERE u."tenantId" = :tenant AND u."id" = :userId AND ${ACTIVE_BASIS_CONDITION}
    AND ${buildMemberCondition(':organizationId', { deviceIp: 'NULL' })}`

/** The user as claims and mappings read the user, in one JSON object. */
export type ClaimsUserJson = Omit<MappedUser, 'updatedAt'> & { updatedAt: string }

/** What a statement reads of the user for the claims of its client, besides what mappings of the APIs of the token read. */
export type ClaimsReading = {
  withClaims: boolean
  /** The sources of the claim mappings of the client. */
  mappedSources: ClaimSource[]
}
/** Parameters of `buildClaimsUserSql`, besides `:clientId`. */
export const CLAIMS_PARAMETERS = {
  withClaims: 'boolean',
  mappedSources: 'text[]',
} as const satisfies Record<keyof ClaimsReading, string>

/** What the tokens of a client need of the user; `isRequested` for claims that the grant requests. */
export function selectClaimsReading(
  client: Parameters<typeof listClientMappings>[0] & { idTokenClaims: boolean },
  isRequested = false,
): ClaimsReading {
  const mappedSources = [...new Set(listClientMappings(client).map(({ source }) => source))]
  return { withClaims: client.idTokenClaims || isRequested || mappedSources.length > 0, mappedSources }
}

/** Whether one of the APIs maps claims, from this source if one is given. Nothing is read without APIs. */
const buildApiReadsSql = (identifiers: string, source?: ClaimSource) =>
  `(cardinality(${identifiers}) > 0 AND EXISTS (
    SELECT FROM "Api" a_ WHERE a_."tenantId" = :tenant AND a_."identifier" = ANY (${identifiers})
      AND (a_."claimMappings" ${source ? `@> '[{"source": "${source}"}]'` : `<> '[]'`}${source && source !== 'groups' ? '' : ' OR a_."groupsInTokens"'})
  ))`

/**
 * A `ClaimsUserJson` of the table `u`, null unless `condition` holds or an API maps claims. A statement that reads the user
 * anyway saves another one for the claims of tokens. `identifiers` is SQL of the APIs of the token, `organizationId` that of
 * its organization.
 */
export function buildClaimsUserSql(condition: string, identifiers: string, organizationId: string): string {
  const reads: Reads = (source) =>
    `(${source ? `'${source}' = ANY (:mappedSources)` : 'cardinality(:mappedSources) > 0'} OR ${buildApiReadsSql(identifiers, source)})`
  const members = [
    ...CLAIM_COLUMNS.map((name) => [name, `u."${name}"`]),
    ...listMappedMembers(reads, ':clientId', organizationId),
  ]
  return `CASE WHEN ${condition} OR ${buildApiReadsSql(identifiers)} THEN jsonb_build_object(${members.map(([name, sql]) => `'${name}', ${sql}`).join(', ')}) END`
}

/** The members of `MappedUser` that are no columns of the user. */
export type MappedMembers = Pick<MappedUser, 'appRoles' | 'groups' | 'organization'>
const MEMBERS: readonly string[] = ['appRoles', 'groups', 'organization'] satisfies (keyof MappedMembers)[]

const SELECT_MAPPED_MEMBERS = statement({
  takes: { userId: 'text', organizationId: 'text?' },
  returns: {
    appRoles: typed<MappedUser['appRoles']>('jsonb?'),
    groups: typed<MappedUser['groups']>('jsonb?'),
    organization: typed<MappedUser['organization']>('jsonb?'),
  },
})`
  SELECT ${listMappedMembers(() => 'true', 'NULL', ':organizationId')
    .filter(([name]) => MEMBERS.includes(name as string))
    .map(([name, sql]) => `${sql} AS "${name}"`)
    .join(', ')}
  FROM "User" u WHERE u."tenantId" = :tenant AND u."id" = :userId`

const NO_MEMBERS: MappedMembers = { appRoles: null, groups: null, organization: null }

/** What mappings read of the roles, groups and organization of a user: one statement, none if they read nothing of these. */
export const findMappedMembers = async (
  { db }: { db: Db },
  mappings: readonly ClaimMapping[],
  userId: string,
  organizationId: string | null,
): Promise<MappedMembers> =>
  (mappings.some(({ source }) => ['roles', 'groups', 'organization'].includes(source)) &&
    (await db.one(SELECT_MAPPED_MEMBERS, { userId, organizationId }))) ||
  NO_MEMBERS

/** The user of a token while the token's grant and session are active; null otherwise. One statement. */
export const selectGrantedUser = (
  db: Db,
  { userId, grantId, sessionId, organizationId = null }: TokenBasis,
): Promise<GrantedUser | null> => db.one(SELECT_GRANTED_USER, { userId, grantId, sessionId, organizationId })
