import { buildUserAccessSql, type EffectiveAccess } from '../../access/effective-access.sql.ts'
import { buildHeldRolesSql, HELD_ROLES } from '../../access/held-roles.sql.ts'
import type { Db } from '../../database/handle.ts'
import { checkFoundRow } from '../../database/key-lookup.ts'
import { type RowOf, statement, typed } from '../../database/statement.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'
import {
  buildClaimsUserSql,
  CLAIMS_PARAMETERS,
  type ClaimsReading,
  type ClaimsUserJson,
} from './granted-user.sql.ts'
import {
  buildTokenOrganizationSql,
  type GrantTerms,
  NEW_GRANT_CTES,
  NEW_GRANT_PARAMETERS,
  type TokenOrganization,
} from './new-grant.sql.ts'
import type { CodeContents } from './sealed-codes.ts'

/** What the statement takes of the contents of a code. */
const CODE_PARAMETERS = {
  grantId: 'text',
  clientId: 'text',
  userId: 'text',
  sessionId: 'text',
  scopes: 'text[]',
  resources: 'text[]',
  defaultAudience: 'text?',
  organizationId: 'text?',
  claims: typed<ClaimsRequest | null>('jsonb?'),
  authenticatedAt: 'timestamptz',
  amr: 'text[]',
  codeGeneration: 'int',
} as const

// FOR SHARE serializes this statement with the lock of the user, the end of the session, the revocation of the client's
// access, and changes and the deletion of the client. The user's row comes first, since most of these lock it first.
const REDEEM_CODE = statement({
  takes: {
    ...NEW_GRANT_PARAMETERS,
    ...CODE_PARAMETERS,
    appType: 'text',
    apis: 'text[]',
    ...CLAIMS_PARAMETERS,
  },
  returns: {
    roles: HELD_ROLES,
    organization: typed<TokenOrganization | null>('jsonb?'),
    access: typed<EffectiveAccess | null>('jsonb?'),
    claimsUser: typed<ClaimsUserJson | null>('jsonb?'),
  },
})`
  WITH valid_code AS MATERIALIZED (
    SELECT :grantId AS "grantId", c."id" AS "clientId", u."id" AS "userId", s."id" AS "sessionId", :scopes AS "scopes",
      :resources AS "resources", :defaultAudience AS "defaultAudience", :claims AS "claims", :authenticatedAt AS "authenticatedAt", :amr AS "amr",
      'offline_access' = ANY (:scopes) AS "offline", ${buildHeldRolesSql('u')} AS "roles",
      ${buildTokenOrganizationSql('u."id"', ':organizationId', { authenticatedAt: ':authenticatedAt', amr: ':amr' })} AS "organization",
      ${buildUserAccessSql('u."id"', ':apis', ':organizationId')} AS "access",
      ${buildClaimsUserSql(':withClaims', ':apis', ':organizationId')} AS "claimsUser"
    FROM "User" u
    JOIN "Session" s ON s."tenantId" = :tenant AND s."id" = :sessionId AND ${checkFoundRow('s."userId" = u."id"')}
    JOIN "Client" c ON c."tenantId" = :tenant AND c."id" = :clientId AND ${checkFoundRow('c."appType" = :appType')}
    WHERE u."tenantId" = :tenant AND u."id" = :userId AND NOT u."locked"
      AND ${checkFoundRow('u."codeGeneration" + c."codeGeneration" = :codeGeneration')}
      AND ${checkFoundRow('s."endedAt" IS NULL AND s."expiresAt" > :now')}
    FOR SHARE OF u, s, c
  ), redeemed_code AS (
    SELECT "grantId" FROM valid_code WHERE :organizationId IS NULL OR ("organization" IS NOT NULL AND "organization"->>'unmet' IS NULL)
  ), ${NEW_GRANT_CTES}
  SELECT valid_code."roles", valid_code."organization", valid_code."access", valid_code."claimsUser" FROM valid_code JOIN new_grant ON new_grant."id" = valid_code."grantId"`

/**
 * Creates the grant of a code and records the event, in one statement. Returns the roles of the user, and what
 * `reading` names; null when the
 * grant exists, the user, the session or the access of the client has ended since the code was issued, or the client is
 * no longer of the type `appType` with which it authenticated.
 */
export const redeemAuthorizationCode = (
  db: Db,
  contents: CodeContents,
  { reading, ...terms }: GrantTerms & { appType: string; apis: string[]; reading: ClaimsReading },
  event: object,
): Promise<RowOf<typeof REDEEM_CODE> | null> => {
  const {
    grantId,
    clientId,
    userId,
    sessionId,
    scopes,
    resources,
    defaultAudience,
    organizationId,
    claims,
    authenticatedAt,
    amr,
    codeGeneration,
  } = contents
  return db.one(REDEEM_CODE, {
    ...reading,
    ...terms,
    events: [event],
    ...{
      grantId,
      clientId,
      userId,
      sessionId,
      scopes,
      resources,
      defaultAudience,
      organizationId,
      claims,
      authenticatedAt,
      amr,
      codeGeneration,
    },
  })
}
