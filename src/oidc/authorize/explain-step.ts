import { OAuthError, type Why } from '../../errors.ts'
import type { PendingRequest } from '../signin/interactions.ts'
import { ACR_OTP } from './acr.ts'
import type { Standing } from './authorization.ts'
import { type FailedRule, type NextStep, scopesToAgreeTo } from './next-step.ts'

/** What a request failed with: itself, who is signed in and agreed to what, and whether the browser sent a session. */
type Failed = { request: PendingRequest; standing: Standing; sentCookie: boolean; now: Date }
type Person = NonNullable<Standing['state']>

/** What each rule comes to in this case. The person is there wherever a rule is about one. */
const WORDS: Record<FailedRule, (failed: Failed, person: Person) => Why> = {
  acr: ({ request: { claims } }) => ({
    reason: 'acr is demanded in a way that there is not',
    demanded: JSON.stringify(claims?.id_token.acr ?? null),
    supported: ACR_OTP,
  }),
  session: ({ sentCookie }) => ({
    reason: sentCookie
      ? 'the session of the browser has ended, or its user is locked'
      : 'the browser sent no session: nobody is signed in there, or it withholds cookies from frames of other sites',
  }),
  person: ({ request: { subjectHint } }, { userId }) => ({
    reason: 'somebody else is signed in than id_token_hint, or the claim sub, names',
    ...(subjectHint !== null && { expected: subjectHint }),
    signed_in: userId,
  }),
  login_hint: (_, { userId }) => ({
    reason: 'the login_hint is no address of who is signed in',
    signed_in: userId,
  }),
  max_age: ({ request: { maxAgeSeconds }, now }, { authenticatedAt }) => ({
    reason: 'the sign-in is older than max_age',
    max_age: maxAgeSeconds,
    age_seconds: Math.floor((now.getTime() - authenticatedAt.getTime()) / 1000),
    auth_time: authenticatedAt.toISOString(),
  }),
  consent: ({ standing: { scopes, claims, client } }, { userId, consentedScopes, consentedClaims }) => {
    const missing = [
      ...scopesToAgreeTo({ ...client, scopes }).filter((scope) => !consentedScopes?.includes(scope)),
      ...claims.filter((claim) => !consentedClaims?.includes(claim)),
    ]
    return {
      reason: 'the person who is signed in has not agreed to it',
      signed_in: userId,
      not_agreed_to: missing.join(' '),
    }
  },
}

/** The error that a request ends with where nobody may be asked, or may not be asked again, and why it came to that. */
export const stepError = (
  { error, description, rule }: Extract<NextStep, { step: 'error' }>,
  request: PendingRequest,
  standing: Standing,
  sentCookie: boolean,
  now = new Date(),
): OAuthError =>
  new OAuthError(error, description, {
    why: WORDS[rule]({ request, standing, sentCookie, now }, standing.state as Person),
  })
