import { OAuthError, type Why } from '../errors.ts'
import type { PendingRequest } from './interactions.ts'
import type { NextStep } from './next-step.ts'
import type { SignInState } from './sign-in-state.sql.ts'

/** What a request met with: who is signed in, and what that person would give. */
type Met = { state: SignInState | null; scopes: readonly string[] }

function whyNoSession(sentCookie: boolean): Why {
  return {
    reason: sentCookie
      ? 'the session of the browser has ended, or its user is locked'
      : 'the browser sent no session: nobody is signed in there, or it withholds cookies from frames of other sites',
  }
}

function whyStep(request: PendingRequest, { state, scopes }: Met, sentCookie: boolean, now: Date): Why {
  if (!state) return whyNoSession(sentCookie)
  if (request.subjectHint !== null && request.subjectHint !== state.userId)
    return {
      reason: 'somebody else is signed in than the request names',
      expected: request.subjectHint,
      signed_in: state.userId,
    }
  const age = Math.floor((now.getTime() - state.authenticatedAt.getTime()) / 1000)
  if (request.maxAgeSeconds !== null && age >= request.maxAgeSeconds)
    return {
      reason: 'the sign-in is older than max_age',
      max_age: request.maxAgeSeconds,
      age_seconds: age,
      auth_time: state.authenticatedAt.toISOString(),
    }
  const missing = scopes.filter((scope) => !state.consentedScopes?.includes(scope))
  return {
    reason: 'the person who is signed in would have to be asked',
    signed_in: state.userId,
    ...(missing.length > 0 && { not_agreed_to: missing.join(' ') }),
  }
}

/** The error that a request ends with where nobody may be asked, or may not be asked again, and why it came to that. */
export const stepError = (
  next: Extract<NextStep, { step: 'error' }>,
  request: PendingRequest,
  met: Met,
  sentCookie: boolean,
  now = new Date(),
): OAuthError => new OAuthError(next.error, next.description, { why: whyStep(request, met, sentCookie, now) })
