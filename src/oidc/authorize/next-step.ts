import type { OAuthErrorCode } from '../../core/oauth-error.ts'
import { ACCOUNT_SCOPE } from '../../core/scopes.ts'
import { ACR_MFA } from '../../core/sign-in-methods.ts'
import { addSeconds } from '../../core/time.ts'
import type { SessionProof } from '../../sessions/proofs.ts'
import { satisfiesAcrRequest } from '../model/acr.ts'
import {
  type Authentication,
  listAcceptableAuthentications,
  selectAuthentication,
} from '../model/authentication.ts'
import type { Prompt } from '../model/authorize-request.ts'
import { type ClaimsRequest, isAcceptableAcr, isForUser, listExtraClaims } from '../model/claims-request.ts'
import type { SecondFactorTerms } from '../model/second-factor.ts'

/** The parts of an authorize request that decide the next step. */
export type StepRequest = {
  prompt: readonly Prompt[]
  maxAgeSeconds: number | null
  /** The user that the id_token_hint identifies. */
  subjectHint: string | null
  /** The login_hint as an address key; null when it is not an address. */
  addressHint: string | null
  /** The requested scopes that the user can grant. */
  scopes: readonly string[]
  /** The requested APIs that the user consents to. */
  resources: readonly string[]
  claims: ClaimsRequest | null
  requireConsent: boolean
  /** The `acr` of each sign-in method of the tenant. */
  supportedAcrs: readonly string[]
  /** Whether the user may, and must, present a second factor. */
  secondFactor: SecondFactorTerms
  /** The user gave a first proof for this request, which a second factor completes. */
  hasFirstProof: boolean
  /** The browser has an account to choose, which may be signed out. */
  hasAccounts: boolean
  /** The user chose to sign in as someone else. */
  isAnother: boolean
}

/** The active session of the browser. */
export type StepSession = {
  userId: string
  /** Address keys of the user. */
  addresses: readonly string[]
  proofs: readonly SessionProof[]
  hasSecondFactor: boolean
  /** The user has not agreed to the current terms of use. */
  mustAgreeToTerms: boolean
  /** When the user signed in for this request; null if that was before it. */
  signedInAt: Date | null
  /** Other accounts of the browser fit as well. */
  isAmbiguous: boolean
  /** The user chose it for this request, or signed in to it. */
  isChosen: boolean
}

/** What the user has consented to for this client. */
export type StepConsent = {
  scopes: readonly string[]
  /** Individually requested claims. */
  claims: readonly string[]
  resources: readonly string[]
  /** The consent was given during this request. */
  isFresh: boolean
}

/** The rule that a request fails, for its diagnostics. */
export type FailedRule =
  | 'acr'
  | 'account'
  | 'session'
  | 'user'
  | 'login_hint'
  | 'max_age'
  | 'second_factor'
  | 'consent'

export type NextStep =
  | { step: 'login' | 'second-factor' | 'terms' | 'consent' | 'select' }
  | { step: 'issue'; authentication: Authentication }
  | { step: 'error'; error: OAuthErrorCode; description: string; rule: FailedRule }

const createErrorStep = (rule: FailedRule, error: OAuthErrorCode, description: string): NextStep => ({
  step: 'error',
  error,
  description,
  rule,
})

/**
 * The next step of an authorize request (OIDC Core, sections 3.1.2.3, 3.1.2.4 and 3.1.2.6), from the request,
 * the session of the browser, the consent and the time. Pure.
 */
export function selectNextStep(
  request: StepRequest,
  session: StepSession | null,
  consent: StepConsent | null,
  now: Date,
): NextStep {
  // No sign-in can satisfy the acr, so the user is not asked.
  if (!request.supportedAcrs.some((acr) => isAcceptableAcr(request.claims, acr)))
    return createErrorStep(
      'acr',
      'unmet_authentication_requirements',
      'No sign-in method satisfies the requested acr.',
    )
  const isPromptNone = request.prompt.includes('none')
  const requireLogin = (rule: FailedRule): NextStep =>
    isPromptNone ? createErrorStep(rule, 'login_required', 'The user must sign in.') : { step: 'login' }
  if (request.hasFirstProof) return { step: 'second-factor' }
  if (needsChoice(request, session))
    return isPromptNone
      ? createErrorStep('account', 'account_selection_required', 'The user must choose an account.')
      : { step: 'select' }
  if (!session) return requireLogin('session')
  if (request.isAnother && !session.signedInAt) return { step: 'login' }
  if (!isExpectedUser(request, session))
    return session.signedInAt
      ? createErrorStep(
          'user',
          'login_required',
          'The user who signed in is not the one that the request is about.',
        )
      : requireLogin('user')
  const since = computeEarliestTime(request, session, now)
  const demand = { claims: request.claims, isTwoFactor: request.secondFactor.isRequired }
  const isAcceptable = listAcceptableAuthentications(session.proofs, demand).length > 0
  // Also after a sign-in for this request, by a method that another tab offered.
  if (!isAcceptable && !canBeCompleted(request, session, since, now)) return requireLogin('acr')
  if (!session.signedInAt) {
    // After a sign-in for this request the hint is not compared: users have more addresses than are stored.
    const { addressHint } = session.isChosen ? { addressHint: null } : request
    if (addressHint !== null && !session.addresses.includes(addressHint)) return requireLogin('login_hint')
    if (request.prompt.includes('login') || request.prompt.includes('create')) return { step: 'login' }
    if (!isPromptNone && isAcceptable && canRaiseAcr(request, session))
      return { step: canRaiseBySecondFactor(request, session, since, now) ? 'second-factor' : 'login' }
  }
  if (!isAcceptable)
    return isPromptNone
      ? createErrorStep('second_factor', 'login_required', 'The user must present a second factor.')
      : { step: 'second-factor' }
  const authentication = selectAuthentication(session.proofs, { ...demand, since })
  if (!authentication) return requireLogin('max_age')
  // A renewal without pages, which the user may not notice, continues.
  if (session.mustAgreeToTerms && !isPromptNone) return { step: 'terms' }
  if (needsConsent(request, consent))
    return isPromptNone
      ? createErrorStep('consent', 'consent_required', 'The user must consent.')
      : { step: 'consent' }
  return { step: 'issue', authentication }
}

/**
 * Whether the user chooses an account first. A user who creates an account, signs in as someone else or has signed in
 * for this request does not.
 */
function needsChoice({ prompt, hasAccounts, isAnother }: StepRequest, session: StepSession | null): boolean {
  if (isAnother || prompt.includes('create') || session?.signedInAt) return false
  if (prompt.includes('select_account')) return hasAccounts
  return session?.isAmbiguous === true && !prompt.includes('login')
}

/**
 * Whether the user is the one that id_token_hint and the `sub` claim name, if any (OIDC Core, section
 * 3.1.2.2).
 */
const isExpectedUser = ({ subjectHint, claims }: StepRequest, { userId }: StepSession): boolean =>
  (subjectHint === null || subjectHint === userId) && isForUser(claims, userId)

/** How recent a first proof must be to set up a second factor, as for the same change over the API. */
const ENROLLMENT_MAX_AGE_SECONDS = 15 * 60

/** Whether a second factor makes the proofs of the session acceptable, without another first proof. */
function canBeCompleted(
  { secondFactor, claims }: StepRequest,
  { proofs, hasSecondFactor }: StepSession,
  since: Date | null,
  now: Date,
): boolean {
  if (!secondFactor.isUsable || !isAcceptableAcr(claims, ACR_MFA)) return false
  const first = selectAuthentication(proofs, { claims: null, since, isTwoFactor: false })
  return (
    first !== null &&
    (hasSecondFactor || first.authenticatedAt >= addSeconds(now, -ENROLLMENT_MAX_AGE_SECONDS))
  )
}

/** Whether a second factor, which the user has, satisfies the voluntary request of an `acr`. */
const canRaiseBySecondFactor = (
  request: StepRequest,
  session: StepSession,
  since: Date | null,
  now: Date,
): boolean =>
  session.hasSecondFactor &&
  satisfiesAcrRequest(request.claims?.id_token.acr ?? null, ACR_MFA) &&
  canBeCompleted(request, session, since, now)

/**
 * Whether a sign-in could satisfy a voluntary request of an `acr` that the session does not satisfy (RFC 9470,
 * section 5). The user signs in once: a sign-in that does not satisfy it is accepted.
 */
function canRaiseAcr({ claims, supportedAcrs }: StepRequest, { proofs }: StepSession): boolean {
  const requested = claims?.id_token.acr ?? null
  return (
    supportedAcrs.some((acr) => satisfiesAcrRequest(requested, acr)) &&
    !listAcceptableAuthentications(proofs, { claims, isTwoFactor: false }).some(({ acr }) =>
      satisfiesAcrRequest(requested, acr),
    )
  )
}

/**
 * The earliest acceptable time of authentication; null for any. A sign-in for this request is recent enough,
 * however long the user takes for the consent. max_age=0 requires one, like prompt=login (OIDC Core, section
 * 3.1.2.1).
 */
function computeEarliestTime(
  { prompt, maxAgeSeconds }: StepRequest,
  { signedInAt }: StepSession,
  now: Date,
): Date | null {
  if (prompt.includes('login') || maxAgeSeconds === 0) return signedInAt ?? addSeconds(now, 1)
  if (maxAgeSeconds === null) return null
  const since = addSeconds(now, -maxAgeSeconds)
  return signedInAt && signedInAt < since ? signedInAt : since
}

/** The scopes that require the user's consent. */
export function listConsentScopes({
  requireConsent,
  scopes,
}: Pick<StepRequest, 'requireConsent' | 'scopes'>): readonly string[] {
  // Without requireConsent the tenant has permitted the client's scopes by registering it, offline_access
  // included (OIDC Core, section 11). Only the user can permit changes to their account.
  return requireConsent ? scopes : scopes.filter((scope) => scope === ACCOUNT_SCOPE)
}

/** Whether the client gets nothing from a user who has not consented to anything: also a request without scopes asks. */
export const requiresConsent = (request: Pick<StepRequest, 'requireConsent' | 'scopes'>): boolean =>
  request.requireConsent || listConsentScopes(request).length > 0

function needsConsent(request: StepRequest, consent: StepConsent | null): boolean {
  if (requiresConsent(request) && !consent) return true
  if (request.prompt.includes('consent') && !consent?.isFresh) return true
  if (request.requireConsent && !request.resources.every((resource) => consent?.resources.includes(resource)))
    return true
  if (!listConsentScopes(request).every((scope) => consent?.scopes.includes(scope))) return true
  // Consent to a scope covers its claims.
  const extraClaims = listExtraClaims(request.claims, [...request.scopes, ...(consent?.scopes ?? [])])
  return request.requireConsent && !extraClaims.every((claim) => consent?.claims.includes(claim))
}
