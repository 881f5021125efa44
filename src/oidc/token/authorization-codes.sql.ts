import type { Sql } from '../../database/db.ts'
import { checkFoundRow } from '../../database/key-lookup.ts'
import { statement } from '../../database/statement.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'
import {
  type GrantTerms,
  NEW_GRANT_CTES,
  NEW_GRANT_PARAMETERS,
  NEW_GRANT_RETURNS,
  type NewGrant,
} from './new-grant.sql.ts'

/** The values of a new code that its request decides. */
export type RequestedCode = {
  codeHash: Buffer
  grantId: string
  clientId: string
  redirectUri: string
  codeChallenge: string | null
  nonce: string | null
  scopes: string[]
  resources: string[]
  claims: ClaimsRequest | null
  dpopJkt: string | null
  expiresAt: Date
  now: Date
}

/** The values of a new code. */
export type NewCode = RequestedCode & {
  userId: string
  sessionId: string
  authenticatedAt: Date
  amr: string[]
}

/** What a code depends on in addition to its user and session. */
export type CodeTerms = {
  /** The interaction that the code ends. */
  interactionHash: Buffer | null
  /** Whether the user must have consented to something for the client. */
  needsConsent: boolean
}

/** CTE `finished`: of two submissions of the last form, only the one that deletes the interaction issues a code. */
export const buildFinishedCte = (condition = 'true'): string => `
  finished AS (
    DELETE FROM "Interaction" WHERE "tenantId" = :tenant AND "handleHash" = :interactionHash AND ${condition} RETURNING "handleHash"
  )`

/** Where the values of a new code come from that its request does not decide. */
const SESSION_VALUES = {
  userId: 'u."id"',
  sessionId: 's."id"',
  authenticatedAt: ':authenticatedAt',
  amr: ':amr',
}

/** An INSERT of a code for the user `u` and the session `s` of `source`, which is the text from FROM on. */
export const buildInsertCodeSql = (source: string, values = SESSION_VALUES): string => `
  INSERT INTO "AuthorizationCode" ("tenantId", "codeHash", "grantId", "clientId", "userId", "sessionId", "redirectUri",
    "codeChallenge", "nonce", "scopes", "resources", "claims", "dpopJkt", "authenticatedAt", "amr", "expiresAt", "createdAt")
  SELECT :tenant, :codeHash, :grantId, :clientId, ${values.userId}, ${values.sessionId}, :redirectUri, :codeChallenge, :nonce,
    :scopes, :resources, :claims, :dpopJkt, ${values.authenticatedAt}, ${values.amr}, :expiresAt, :now
  ${source}
  RETURNING "grantId"`

// FOR SHARE serializes this statement with the lock of the user, the end of the session and the revocation of
// the consent. The user's row comes first, since revoking a consent locks it first.
const buildSessionSource = (finishesInteraction: boolean, needsConsent: boolean) => `
  FROM "User" u JOIN "Session" s ON s."tenantId" = :tenant AND s."id" = :sessionId AND ${checkFoundRow('s."userId" = u."id"')}
  ${needsConsent ? `JOIN "Consent" k ON k."tenantId" = :tenant AND k."userId" = u."id" AND k."clientId" = :clientId` : ''}
  WHERE u."tenantId" = :tenant AND u."id" = :userId AND NOT u."locked"
    AND ${checkFoundRow('s."endedAt" IS NULL AND s."expiresAt" > :now')}
    ${finishesInteraction ? 'AND EXISTS (SELECT FROM finished)' : ''}
  FOR SHARE OF u, s${needsConsent ? ', k' : ''}`

/** Parameters of `buildInsertCodeSql`, of `RequestedCode`. */
export const REQUESTED_CODE_PARAMETERS = {
  codeHash: 'bytea',
  grantId: 'text',
  clientId: 'text',
  redirectUri: 'text',
  codeChallenge: 'text?',
  nonce: 'text?',
  scopes: 'text[]',
  resources: 'text[]',
  claims: 'jsonb?',
  dpopJkt: 'text?',
  expiresAt: 'timestamptz',
  now: 'timestamptz',
} as const
/** Parameters of `buildInsertCodeSql` with SESSION_VALUES. */
export const NEW_CODE_PARAMETERS = {
  ...REQUESTED_CODE_PARAMETERS,
  authenticatedAt: 'timestamptz',
  amr: 'text[]',
} as const
const NEW_CODE = { ...NEW_CODE_PARAMETERS, userId: 'text', sessionId: 'text' } as const

const declareInsertCode = (needsConsent: boolean) => ({
  immediate: statement({
    takes: NEW_CODE,
    returns: { grantId: 'text' },
  })`${buildInsertCodeSql(buildSessionSource(false, needsConsent))}`,
  afterInteraction: statement({
    takes: { ...NEW_CODE, interactionHash: 'bytea' },
    returns: { grantId: 'text' },
  })`
    WITH ${buildFinishedCte()} ${buildInsertCodeSql(buildSessionSource(true, needsConsent))}`,
})
const INSERT_CODE = declareInsertCode(false)
const INSERT_CODE_WITH_CONSENT = declareInsertCode(true)

/**
 * Inserts a code and deletes the interaction that led to it, in one statement. False when the user is locked,
 * the session has ended, the required consent is missing, or the interaction has ended.
 */
export async function insertAuthorizationCode(
  sql: Sql,
  tenant: string,
  code: NewCode,
  { interactionHash, needsConsent }: CodeTerms,
): Promise<boolean> {
  const { immediate, afterInteraction } = needsConsent ? INSERT_CODE_WITH_CONSENT : INSERT_CODE
  const row = interactionHash
    ? await afterInteraction.first(sql, { tenant, ...code, interactionHash })
    : await immediate.first(sql, { tenant, ...code })
  return row !== null
}

/** What must match for a code to be redeemed. */
export type CodeRedemption = {
  codeHash: Buffer
  clientId: string
  redirectUri: string
  codeChallenge: string | null
  /** Thumbprint of the key of the verified DPoP proof; must match when the code is bound to a key. */
  dpopJkt: string | null
}

export type RedeemedCode = NewGrant

// The rows of the user and the session are locked before the code is changed: locking a user takes row locks
// in the same order and deletes codes last.
const REDEEM_CODE = statement({
  takes: {
    ...NEW_GRANT_PARAMETERS,
    codeHash: 'bytea',
    clientId: 'text',
    redirectUri: 'text',
    codeChallenge: 'text?',
    dpopJkt: 'text?',
  },
  returns: NEW_GRANT_RETURNS,
})`
  WITH valid_code AS MATERIALIZED (
    SELECT c."grantId", c."clientId", c."userId", c."sessionId", c."scopes", c."resources", c."claims", c."nonce",
      c."authenticatedAt", c."amr", 'offline_access' = ANY (c."scopes") AS "offline", u."roles"
    FROM "AuthorizationCode" c
    JOIN "User" u ON u."tenantId" = :tenant AND u."id" = c."userId"
    JOIN "Session" s ON s."tenantId" = :tenant AND s."id" = c."sessionId"
    WHERE c."tenantId" = :tenant AND c."codeHash" = :codeHash AND ${checkFoundRow('c."clientId" = :clientId')} AND c."redirectUri" = :redirectUri
      AND c."codeChallenge" IS NOT DISTINCT FROM :codeChallenge
      AND (c."dpopJkt" IS NULL OR c."dpopJkt" = :dpopJkt) AND c."usedAt" IS NULL AND c."expiresAt" > :now
      AND NOT u."locked" AND ${checkFoundRow('s."endedAt" IS NULL AND s."expiresAt" > :now')}
    FOR SHARE OF u, s
  ), redeemed_code AS (
    UPDATE "AuthorizationCode" c SET "usedAt" = :now FROM valid_code
    WHERE c."tenantId" = :tenant AND c."codeHash" = :codeHash AND c."usedAt" IS NULL
    RETURNING c."grantId"
  ), ${NEW_GRANT_CTES}
  SELECT valid_code.* FROM valid_code JOIN new_grant ON new_grant."id" = valid_code."grantId"`

/**
 * Marks a code as used, creates its grant and records the event, in one statement; null when the code is
 * invalid or anything does not match.
 */
export const redeemAuthorizationCode = (
  sql: Sql,
  tenant: string,
  redemption: CodeRedemption,
  terms: GrantTerms,
  event: object,
): Promise<RedeemedCode | null> =>
  REDEEM_CODE.first(sql, { tenant, ...terms, ...redemption, events: [event] })
