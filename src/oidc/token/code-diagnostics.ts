import type { Diagnostics } from '../../core/oauth-error.ts'
import { sql } from '../../database/db.ts'
import { describeUriDifference } from '../model/redirect-diagnostics.ts'
import { type CodeDiagnosticsRow, selectCodeDiagnostics } from './token-diagnostics.sql.ts'

const computeSecondsBetween = (earlier: Date, later: Date): number =>
  Math.round((later.getTime() - earlier.getTime()) / 1000)

type CheckedCode = PresentedCode & { clientId: string; computedChallenge: string | null }

/**
 * Explains a PKCE mismatch (RFC 7636, section 4.6). The challenge is not secret, since it went through the
 * browser; the verifier is not recorded.
 */
function diagnoseVerifier(
  { codeChallenge }: CodeDiagnosticsRow,
  { computedChallenge }: CheckedCode,
): Diagnostics {
  if (codeChallenge === null)
    return { reason: 'a code_verifier was sent, but the code has no code_challenge' }
  if (computedChallenge === null)
    return { reason: 'code_verifier is missing', expected_challenge: codeChallenge }
  return {
    reason: 'the code_verifier does not match the code_challenge',
    expected_challenge: codeChallenge,
    computed_challenge: computedChallenge,
  }
}

/** Explains the rejection of a code by its row, most likely causes first. Pure. */
export function diagnoseCode(row: CodeDiagnosticsRow | null, presented: CheckedCode, now: Date): Diagnostics {
  if (!row)
    return { reason: 'the code is unknown: never issued here, deleted with its session, or expired long ago' }
  if (row.clientId !== presented.clientId)
    return { reason: 'the code was issued to another client', issued_to: row.clientId }
  if (row.usedAt)
    return {
      reason: 'the code was used before: the tokens issued for it are revoked',
      used_at: row.usedAt.toISOString(),
    }
  if (row.redirectUri !== presented.redirectUri)
    return {
      reason: 'the redirect_uri is not the one of the authorize request',
      expected: row.redirectUri,
      given: presented.redirectUri,
      difference: describeUriDifference(presented.redirectUri, row.redirectUri),
    }
  if (row.expiresAt <= now)
    return {
      reason: 'the code has expired',
      expired_at: row.expiresAt.toISOString(),
      seconds_late: computeSecondsBetween(row.expiresAt, now),
    }
  if (row.codeChallenge !== presented.computedChallenge) return diagnoseVerifier(row, presented)
  if (row.dpopJkt !== null && row.dpopJkt !== presented.dpopJkt)
    return {
      reason: 'the code is bound to another DPoP key',
      expected_jkt: row.dpopJkt,
      jkt: presented.dpopJkt,
    }
  if (row.locked !== false) return { reason: row.locked ? 'the user is locked' : 'the user was deleted' }
  return { reason: 'the session has ended', end_reason: row.endReason }
}

/** Loads the code and explains its rejection: one statement, only after a rejection. */
export const diagnoseStoredCode = async (
  tenant: string,
  codeHash: Buffer,
  presented: CheckedCode,
  now: Date,
): Promise<Diagnostics> => diagnoseCode(await selectCodeDiagnostics(sql, tenant, codeHash), presented, now)

export type PresentedCode = {
  code: string
  redirectUri: string
  codeVerifier: string | null
  /** Thumbprint of the key of the verified DPoP proof. */
  dpopJkt: string | null
}
