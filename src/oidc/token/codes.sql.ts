import type { Sql } from '../../db.ts'
import type { ClaimsRequest } from '../authorize/claims-request.ts'
import { type GrantTerms, NEW_GRANT, type NewGrant, newGrantValues } from './new-grant.sql.ts'

/** What a code is inserted with; times of the session are read with it. */
export type NewCode = {
  codeHash: Buffer
  grantId: string
  clientId: string
  userId: string
  sessionId: string
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

/** Of two submissions of the last form only the one that removes the interaction issues a code. */
const FINISH = `
  WITH finished AS (DELETE FROM "Interaction" WHERE "tenantId" = $1 AND "handleHash" = $16::bytea RETURNING "handleHash")`

/** What a code depends on beside its user and session. */
export type CodeTerms = {
  /** The interaction that it ends. */
  interactionHash: Buffer | null
  /** Whether the person must have agreed to something for the client. */
  needsConsent: boolean
}

// FOR SHARE makes a lock of the user, the end of the session, or of the consent, and this wait for each other (design,
// section 6). In this order: who takes a consent back holds the user first.
const insertCodeText = ({ interactionHash, needsConsent }: CodeTerms) => `
  ${interactionHash ? FINISH : ''}
  INSERT INTO "AuthorizationCode" ("tenantId", "codeHash", "grantId", "clientId", "userId", "sessionId", "redirectUri",
    "codeChallenge", "nonce", "scopes", "resources", "claims", "dpopJkt", "authenticatedAt", "amr", "expiresAt", "createdAt")
  SELECT $1, $2::bytea, $3, $4, u."id", s."id", $7, $8::text, $9::text, $10::text[], $11::text[], $14::jsonb, $15::text,
    s."authenticatedAt", s."amr", $12::timestamptz, $13::timestamptz
  FROM "User" u JOIN "Session" s ON s."tenantId" = $1 AND s."userId" = u."id"
  ${needsConsent ? `JOIN "Consent" k ON k."tenantId" = $1 AND k."userId" = u."id" AND k."clientId" = $4` : ''}
  WHERE u."tenantId" = $1 AND u."id" = $5 AND NOT u."locked"
    AND s."id" = $6 AND s."endedAt" IS NULL AND s."expiresAt" > $13::timestamptz
    ${interactionHash ? 'AND EXISTS (SELECT FROM finished)' : ''}
  FOR SHARE OF u, s${needsConsent ? ', k' : ''}
  RETURNING "grantId"`

/** Inserts a code, ending the interaction that led to it. False when the user or the session is not to be used any more,
 *  the consent that it needs was taken back, or the interaction had ended already. One statement. */
export async function insertCode(
  sql: Sql,
  tenant: string,
  code: NewCode,
  terms: CodeTerms,
): Promise<boolean> {
  const rows = await sql(insertCodeText(terms), [
    tenant,
    code.codeHash,
    code.grantId,
    code.clientId,
    code.userId,
    code.sessionId,
    code.redirectUri,
    code.codeChallenge,
    code.nonce,
    code.scopes,
    code.resources,
    code.expiresAt,
    code.now,
    code.claims && JSON.stringify(code.claims),
    code.dpopJkt,
    ...(terms.interactionHash ? [terms.interactionHash] : []),
  ])
  return rows.length > 0
}

/** What proves that a code may be redeemed. */
export type Proof = {
  codeHash: Buffer
  clientId: string
  redirectUri: string
  codeChallenge: string | null
  /** Thumbprint of the key that was proven: a code that is bound to another one is not for this caller. */
  dpopJkt: string | null
}

export type RedeemedCode = NewGrant<ClaimsRequest>

// The rows of the user and the session are locked before the code is touched: whoever locks the user takes them in
// this order too, and deletes codes last.
const REDEEM_CODE = `
  WITH person AS MATERIALIZED (
    SELECT c."grantId", c."clientId", c."userId", c."sessionId", c."scopes", c."resources", c."claims", c."nonce",
      c."authenticatedAt", c."amr", 'offline_access' = ANY (c."scopes") AS "offline", u."roles"
    FROM "AuthorizationCode" c
    JOIN "User" u ON u."tenantId" = $1 AND u."id" = c."userId"
    JOIN "Session" s ON s."tenantId" = $1 AND s."id" = c."sessionId"
    WHERE c."tenantId" = $1 AND c."codeHash" = $9::bytea AND c."clientId" = $10 AND c."redirectUri" = $11
      AND c."codeChallenge" IS NOT DISTINCT FROM $12::text
      AND (c."dpopJkt" IS NULL OR c."dpopJkt" = $13::text) AND c."usedAt" IS NULL AND c."expiresAt" > $2::timestamptz
      AND NOT u."locked" AND s."endedAt" IS NULL AND s."expiresAt" > $2::timestamptz
    FOR SHARE OF u, s
  ), used AS (
    UPDATE "AuthorizationCode" c SET "usedAt" = $2::timestamptz FROM person
    WHERE c."tenantId" = $1 AND c."codeHash" = $9::bytea AND c."usedAt" IS NULL
    RETURNING c."grantId"
  ), ${NEW_GRANT}
  SELECT person.* FROM person JOIN granted ON granted."id" = person."grantId"`

/** Marks a code as used, makes its grant and writes the event, in one statement; null when anything does not match. */
export async function redeemCode(
  sql: Sql,
  tenant: string,
  proof: Proof,
  terms: GrantTerms,
  event: object,
): Promise<RedeemedCode | null> {
  const [row] = await sql<RedeemedCode>(REDEEM_CODE, [
    tenant,
    ...newGrantValues(terms, event),
    proof.codeHash,
    proof.clientId,
    proof.redirectUri,
    proof.codeChallenge,
    proof.dpopJkt,
  ])
  return row ?? null
}
