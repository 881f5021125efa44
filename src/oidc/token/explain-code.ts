import { sql } from '../../db.ts'
import type { Why } from '../../errors.ts'
import { differenceOf } from '../authorize/redirect-difference.ts'
import type { PresentedCode } from './codes.ts'
import { type ExplainedCode, selectExplainedCode } from './explain.sql.ts'

const secondsBetween = (earlier: Date, later: Date): number =>
  Math.round((later.getTime() - earlier.getTime()) / 1000)

type Presented = PresentedCode & { clientId: string; computedChallenge: string | null }

/** Why PKCE did not match (RFC 7636, section 4.6). The challenge went through the browser; the verifier stays untold. */
function whyNotVerified({ codeChallenge }: ExplainedCode, { computedChallenge }: Presented): Why {
  if (codeChallenge === null)
    return { reason: 'a code_verifier was sent, but the code has no code_challenge' }
  if (computedChallenge === null)
    return { reason: 'code_verifier is missing', expected_challenge: codeChallenge }
  return {
    reason: 'the code_verifier is not the one of the code_challenge',
    expected_challenge: codeChallenge,
    computed_challenge: computedChallenge,
  }
}

/** Why a code was refused, by its row, in the order in which a developer would look. Pure. */
export function whyCode(row: ExplainedCode | null, presented: Presented, now: Date): Why {
  if (!row) return { reason: 'no such code: never issued here, dropped with its session, or long expired' }
  if (row.clientId !== presented.clientId)
    return { reason: 'the code was issued to another client', issued_to: row.clientId }
  if (row.usedAt)
    return {
      reason: 'the code was used before: what was issued for it is revoked',
      used_at: row.usedAt.toISOString(),
    }
  if (row.redirectUri !== presented.redirectUri)
    return {
      reason: 'the redirect_uri is not the one of the authorize request',
      expected: row.redirectUri,
      given: presented.redirectUri,
      difference: differenceOf(presented.redirectUri, row.redirectUri),
    }
  if (row.expiresAt <= now)
    return {
      reason: 'the code has expired',
      expired_at: row.expiresAt.toISOString(),
      seconds_late: secondsBetween(row.expiresAt, now),
    }
  if (row.codeChallenge !== presented.computedChallenge) return whyNotVerified(row, presented)
  if (row.dpopJkt !== null && row.dpopJkt !== presented.dpopJkt)
    return {
      reason: 'the code is bound to another DPoP key',
      expected_jkt: row.dpopJkt,
      jkt: presented.dpopJkt,
    }
  if (row.locked !== false) return { reason: row.locked ? 'the user is locked' : 'the user is gone' }
  return { reason: 'the session has ended', end_reason: row.endReason }
}

/** The same, from the database: one statement, only after a refusal. */
export const explainCode = async (
  tenant: string,
  codeHash: Buffer,
  presented: Presented,
  now: Date,
): Promise<Why> => whyCode(await selectExplainedCode(sql, tenant, codeHash), presented, now)
