import { ACCOUNT_SCOPE } from '../../ctx.ts'
import type { OAuthErrorCode } from '../../errors.ts'
import { claimsBeside } from '../userinfo/claims.ts'
import { ACR_OTP } from './acr.ts'
import type { Prompt } from './authorize.ts'
import { type ClaimsRequest, isAbout, isAcrAcceptable } from './claims-request.ts'

/** What of an authorize request decides the next step. */
export type StepRequest = {
  prompt: readonly Prompt[]
  maxAgeSeconds: number | null
  /** Whom the id_token_hint names. */
  subjectHint: string | null
  /** What the login_hint is compared by; null when it is no address. */
  addressHint: string | null
  /** What the person would give, of what was asked. */
  scopes: readonly string[]
  claims: ClaimsRequest | null
  requireConsent: boolean
}

/** The browser's session, when it has an active one. */
export type StepSession = {
  userId: string
  /** What the person's addresses are compared by. */
  addresses: readonly string[]
  authenticatedAt: Date
  /** Started in the course of this very request. */
  isFresh: boolean
}

/** What the person has agreed to for this client. */
export type StepConsent = {
  scopes: readonly string[]
  /** Those that were asked for one by one. */
  claims: readonly string[]
  /** Agreed in the course of this very request. */
  isFresh: boolean
}

/** Which rule a request fails by, for those who want to know. */
export type FailedRule = 'acr' | 'session' | 'person' | 'login_hint' | 'max_age' | 'consent'

export type NextStep =
  | { step: 'login' | 'consent' | 'select' | 'issue' }
  | { step: 'error'; error: OAuthErrorCode; description: string; rule: FailedRule }

const failure = (rule: FailedRule, error: OAuthErrorCode, description: string): NextStep => ({
  step: 'error',
  error,
  description,
  rule,
})

/**
 * What happens next with an authorize request (OIDC Core, sections 3.1.2.3, 3.1.2.4 and 3.1.2.6). Pure: the request,
 * the browser's session, the consent and the time decide.
 */
export function nextStep(
  request: StepRequest,
  session: StepSession | null,
  consent: StepConsent | null,
  now: Date,
): NextStep {
  // Whoever signed in: it would not be in one of the ways that are demanded.
  if (!isAcrAcceptable(request.claims, ACR_OTP))
    return failure(
      'acr',
      'unmet_authentication_requirements',
      'Nobody can sign in here in a way that acr demands.',
    )
  const quiet = request.prompt.includes('none')
  const login = (rule: FailedRule): NextStep =>
    quiet ? failure(rule, 'login_required', 'The person must sign in.') : { step: 'login' }
  if (!session) return login('session')
  if (!isMeant(request, session))
    return session.isFresh
      ? failure('person', 'login_required', 'Another person signed in than the request is about.')
      : login('person')
  if (!session.isFresh) {
    // Once somebody signed in for this request the hint has done its part: people have more addresses than we know.
    if (request.addressHint !== null && !session.addresses.includes(request.addressHint))
      return login('login_hint')
    if (request.prompt.includes('login')) return { step: 'login' }
    if (request.prompt.includes('select_account')) return { step: 'select' }
    if (isTooOld(session, request.maxAgeSeconds, now)) return login('max_age')
  }
  if (needsConsent(request, consent))
    return quiet ? failure('consent', 'consent_required', 'The person must consent.') : { step: 'consent' }
  return { step: 'issue' }
}

/** An id_token_hint, or a `sub` with a value, says who may be answered about (OIDC Core, section 3.1.2.2). */
const isMeant = ({ subjectHint, claims }: StepRequest, { userId }: StepSession): boolean =>
  (subjectHint === null || subjectHint === userId) && isAbout(claims, userId)

/** max_age=0 asks for a new sign-in, like prompt=login (OIDC Core, section 3.1.2.1). */
const isTooOld = (session: StepSession, maxAgeSeconds: number | null, now: Date): boolean =>
  maxAgeSeconds !== null &&
  (maxAgeSeconds === 0 || now.getTime() - session.authenticatedAt.getTime() > maxAgeSeconds * 1000)

/** The scopes that the person must have agreed to. */
export function scopesToAgreeTo({
  requireConsent,
  scopes,
}: Pick<StepRequest, 'requireConsent' | 'scopes'>): readonly string[] {
  // Without requireConsent, registering the client was the tenant's permission, offline_access included (Core 11). To
  // change somebody's account takes that person's, whoever asks.
  return requireConsent ? scopes : scopes.filter((scope) => scope === ACCOUNT_SCOPE)
}

function needsConsent(request: StepRequest, consent: StepConsent | null): boolean {
  if (request.prompt.includes('consent') && !consent?.isFresh) return true
  if (!scopesToAgreeTo(request).every((scope) => consent?.scopes.includes(scope))) return true
  // Who agreed to a scope agreed to each claim of it.
  const beside = claimsBeside(request.claims, [...request.scopes, ...(consent?.scopes ?? [])])
  return request.requireConsent && !beside.every((claim) => consent?.claims.includes(claim))
}
