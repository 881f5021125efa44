import type { Diagnostics } from '../../core/oauth-error.ts'
import type { Db } from '../../database/handle.ts'
import { describeUriDifference } from '../model/redirect-diagnostics.ts'
import type { CodeContents } from './sealed-codes.ts'
import { type CodeStateRow, selectCodeState } from './token-diagnostics.sql.ts'

/** What a client presents with a code. */
export type PresentedCode = {
  code: string
  redirectUri: string
  codeVerifier: string | null
  /** Thumbprint of the key of the verified DPoP proof. */
  dpopJkt: string | null
}

const computeSecondsBetween = (earlier: Date, later: Date): number =>
  Math.round((later.getTime() - earlier.getTime()) / 1000)

type CheckedCode = PresentedCode & { clientId: string; computedChallenge: string | null }

/**
 * Explains a PKCE mismatch (RFC 7636, section 4.6). The challenge is not secret, since it went through the
 * browser; the verifier is not recorded.
 */
function diagnoseVerifier({ codeChallenge }: CodeContents, { computedChallenge }: CheckedCode): Diagnostics {
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

/**
 * Compares what a client presents with the contents of its code (RFC 6749, section 4.1.3; RFC 7636, section 4.6; RFC
 * 9449, section 10). Explains the first difference, most likely causes first; null without one. Pure.
 */
export function diagnosePresentedCode(
  contents: CodeContents,
  presented: CheckedCode,
  now: Date,
): Diagnostics | null {
  if (contents.clientId !== presented.clientId)
    return { reason: 'the code was issued to another client', issued_to: contents.clientId }
  if (contents.redirectUri !== presented.redirectUri)
    return {
      reason: 'the redirect_uri is not the one of the authorize request',
      expected: contents.redirectUri,
      given: presented.redirectUri,
      difference: describeUriDifference(presented.redirectUri, contents.redirectUri),
    }
  if (contents.expiresAt <= now)
    return {
      reason: 'the code has expired',
      expired_at: contents.expiresAt.toISOString(),
      seconds_late: computeSecondsBetween(contents.expiresAt, now),
    }
  if (contents.codeChallenge !== presented.computedChallenge) return diagnoseVerifier(contents, presented)
  if (contents.dpopJkt !== null && contents.dpopJkt !== presented.dpopJkt)
    return {
      reason: 'the code is bound to another DPoP key',
      expected_jkt: contents.dpopJkt,
      jkt: presented.dpopJkt,
    }
  return null
}

/** Explains the rejection of a code by the state of its user and session. Pure. */
function diagnoseState({ locked, isVoid, isSessionActive, endReason }: CodeStateRow): Diagnostics {
  if (locked !== false) return { reason: locked ? 'the user is locked' : 'the user was deleted' }
  if (isVoid) return { reason: 'the access of a client was revoked after the code was issued' }
  return isSessionActive
    ? { reason: 'the client was changed or deleted at the same time' }
    : { reason: 'the session has ended', end_reason: endReason }
}

/**
 * Explains the rejection of a code that a client presented: one statement, only after a rejection. `mismatch` is what
 * `diagnosePresentedCode` found.
 */
export async function diagnoseRejectedCode(
  db: Db,
  contents: CodeContents,
  clientId: string,
  mismatch: Diagnostics | null,
): Promise<Diagnostics> {
  const state = await selectCodeState(db, contents)
  if (state.usedAt && contents.clientId === clientId)
    return {
      reason: 'the code was used before: the tokens issued for it are revoked',
      used_at: state.usedAt.toISOString(),
    }
  return mismatch ?? diagnoseState(state)
}
