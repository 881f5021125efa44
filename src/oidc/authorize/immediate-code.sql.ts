import type { Sql } from '../../database/db.ts'
import { statement } from '../../database/statement.ts'
import {
  BROWSER_SESSION_CONDITION,
  BROWSER_SESSION_FROM,
  BROWSER_SESSION_PARAMETERS,
} from '../../sessions/browser-session-use.sql.ts'
import {
  buildInsertCodeSql,
  REQUESTED_CODE_PARAMETERS,
  type RequestedCode,
} from '../token/authorization-codes.sql.ts'
import {
  LEFT_JOIN_CONSENT,
  SIGN_IN_STATE_COLUMNS,
  SIGN_IN_STATE_RETURNS,
  type SignInState,
} from './sign-in-state.sql.ts'

/** What must hold of the session, the user and the consent for a code without interaction. */
export type ImmediateTerms = {
  /** The earliest acceptable time of authentication; null for any. */
  since: Date | null
  /** The user that the request is about; null for any. */
  subjectHint: string | null
  /** The terms of use that the user must have agreed to; null for none. */
  termsVersion: string | null
  /** The scopes that the user must have consented to. */
  consentScopes: string[]
}

const JOIN_CONSENT = `
  JOIN "Consent" k ON k."tenantId" = :tenant AND k."userId" = u."id" AND k."clientId" = :clientId`

/** The columns of the state, without those of its only proof. */
const STATE_COLUMNS = Object.keys(SIGN_IN_STATE_RETURNS)
  .map((name) => `state."${name}"`)
  .join(', ')

/** When the only proof of the session was given. One that an earlier version started has no proof, see `listProofs`. */
const PROVEN_AT = `COALESCE((s."proofs"->0->>'at')::timestamptz, s."authenticatedAt")`
/** The authentication methods of the only proof. */
const PROVEN_BY = `CASE jsonb_array_length(s."proofs") WHEN 0 THEN s."amr" ELSE ARRAY(SELECT jsonb_array_elements_text(s."proofs"->0->'amr')) END`

// The only proof of the session is the authentication that the code reports. Rows are locked as by the INSERT of a code
// after an interaction: the lock of the user, the end of the session and the revocation of the consent wait.
const declareInsertImmediateCode = (needsConsent: boolean) =>
  statement({
    takes: {
      ...BROWSER_SESSION_PARAMETERS,
      ...REQUESTED_CODE_PARAMETERS,
      since: 'timestamptz?',
      subjectHint: 'text?',
      termsVersion: 'text?',
      ...(needsConsent && { consentScopes: 'text[]' as const }),
    },
    returns: SIGN_IN_STATE_RETURNS,
  })`
  WITH state AS MATERIALIZED (
    SELECT ${SIGN_IN_STATE_COLUMNS}, ${PROVEN_AT} AS "provenAt", ${PROVEN_BY} AS "provenBy"
    ${BROWSER_SESSION_FROM} ${needsConsent ? JOIN_CONSENT : LEFT_JOIN_CONSENT}
    WHERE ${BROWSER_SESSION_CONDITION} AND jsonb_array_length(s."proofs") <= 1
      AND (:since IS NULL OR ${PROVEN_AT} >= :since)
      AND (:subjectHint IS NULL OR u."id" = :subjectHint)
      AND (:termsVersion IS NULL OR u."termsVersion" = :termsVersion)
      ${needsConsent ? 'AND k."scopes" @> :consentScopes' : ''}
    FOR SHARE OF u, s${needsConsent ? ', k' : ''}
  ), code AS (${buildInsertCodeSql('FROM state', {
    userId: 'state."userId"',
    sessionId: 'state."id"',
    authenticatedAt: 'state."provenAt"',
    amr: 'state."provenBy"',
  })})
  SELECT ${STATE_COLUMNS} FROM state JOIN code ON true`
const INSERT_IMMEDIATE_CODE = declareInsertImmediateCode(false)
const INSERT_IMMEDIATE_CODE_WITH_CONSENT = declareInsertImmediateCode(true)

/**
 * Inserts a code for the session of a cookie, and returns what it was issued for; null when the terms do not hold. One
 * statement.
 */
export function insertImmediateCode(
  sql: Sql,
  tenant: string,
  { tokenHash, ...code }: RequestedCode & { tokenHash: Buffer },
  terms: ImmediateTerms,
): Promise<SignInState | null> {
  const insert = terms.consentScopes.length > 0 ? INSERT_IMMEDIATE_CODE_WITH_CONSENT : INSERT_IMMEDIATE_CODE
  return insert.first(sql, { tenant, tokenHash, ...code, ...terms })
}
