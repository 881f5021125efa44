import type { OAuthErrorCode } from '../../core/oauth-error.ts'
import { addSeconds } from '../../core/time.ts'
import { ACR_MFA } from '../../model/sign-in-methods.ts'
import { satisfiesAcrRequest } from '../model/acr.ts'
import {
  type Authentication,
  listAcceptableAuthentications,
  selectAuthentication,
} from '../model/authentication.ts'
import { isAcceptableAcr, isForUser } from '../model/claims-request.ts'
import { needsConsent } from './required-consent.ts'
import type { FailedRule, NextStep, StepConsent, StepRequest, StepSession } from './step-facts.ts'

/** A signed-in user, with what their proofs are worth for the request. */
type SignedIn = {
  request: StepRequest
  session: StepSession
  consent: StepConsent | null
  /** The earliest acceptable time of authentication; null for any. */
  since: Date | null
  /** Whether the proofs satisfy what the request demands, however old they are. */
  isAcceptable: boolean
  /** The recent proofs that satisfy it; null without any. */
  authentication: Authentication | null
  now: Date
}

/** Returns the step that a rule demands; null where the rule is satisfied. */
type Rule<Subject> = (subject: Subject) => NextStep | null

/** The rules in their order. The first that is not satisfied decides the step. */
const REQUEST_RULES: readonly Rule<Pick<SignedIn, 'request'> & { session: StepSession | null }>[] = [
  requireReachableAcr,
  requireSecondFactorAfterProof,
  requireChoice,
]
const SESSION_RULES: readonly Rule<SignedIn>[] = [
  requireOtherUser,
  requireExpectedUser,
  requirePermittedMethod,
  requireAcceptableProof,
  requireHintedUser,
  requirePromptedLogin,
  requireVoluntaryAcr,
  requireSecondFactor,
  requireRecentProof,
  requireTerms,
  requireOrganization,
  requireConsent,
]

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
  const early = findStep(REQUEST_RULES, { request, session })
  if (early) return early
  if (!session) return requireLogin(request, 'session')
  const signedIn = weighProofs(request, session, consent, now)
  const step = findStep(SESSION_RULES, signedIn)
  // The rules leave none without an authentication.
  return step ?? { step: 'issue', authentication: signedIn.authentication as Authentication }
}

function findStep<Subject>(rules: readonly Rule<Subject>[], subject: Subject): NextStep | null {
  for (const rule of rules) {
    const step = rule(subject)
    if (step) return step
  }
  return null
}

function weighProofs(
  request: StepRequest,
  session: StepSession,
  consent: StepConsent | null,
  now: Date,
): SignedIn {
  const since = computeEarliestTime(request, session, now)
  const demand = { claims: request.claims, isTwoFactor: request.secondFactor.isRequired }
  const isAcceptable = listAcceptableAuthentications(session.proofs, demand).length > 0
  const authentication = selectAuthentication(session.proofs, { ...demand, since })
  return { request, session, consent, since, isAcceptable, authentication, now }
}

const createErrorStep = (rule: FailedRule, error: OAuthErrorCode, description: string): NextStep => ({
  step: 'error',
  error,
  description,
  rule,
})

const isPromptNone = ({ prompt }: StepRequest): boolean => prompt.includes('none')

const requireLogin = (request: StepRequest, rule: FailedRule): NextStep =>
  isPromptNone(request)
    ? createErrorStep(rule, 'login_required', 'The user must sign in.')
    : { step: 'login' }

/** No sign-in can satisfy the acr, so the user is not asked. */
function requireReachableAcr({ request }: { request: StepRequest }): NextStep | null {
  return request.supportedAcrs.some((acr) => isAcceptableAcr(request.claims, acr))
    ? null
    : createErrorStep(
        'acr',
        'unmet_authentication_requirements',
        'No sign-in method satisfies the requested acr.',
      )
}

function requireSecondFactorAfterProof({ request }: { request: StepRequest }): NextStep | null {
  return request.hasFirstProof ? { step: 'second-factor' } : null
}

function requireChoice({
  request,
  session,
}: {
  request: StepRequest
  session: StepSession | null
}): NextStep | null {
  if (!needsChoice(request, session)) return null
  return isPromptNone(request)
    ? createErrorStep('account', 'account_selection_required', 'The user must choose an account.')
    : { step: 'select' }
}

/** The user chose to sign in as someone else. */
function requireOtherUser({ request, session }: SignedIn): NextStep | null {
  return request.isAnother && !session.signedInAt ? { step: 'login' } : null
}

function requireExpectedUser({ request, session }: SignedIn): NextStep | null {
  if (isExpectedUser(request, session)) return null
  return session.signedInAt
    ? createErrorStep(
        'user',
        'login_required',
        'The user who signed in is not the one that the request is about.',
      )
    : requireLogin(request, 'user')
}

/** No sign-in can satisfy the organization, so the user is not asked. */
function requirePermittedMethod(signedIn: SignedIn): NextStep | null {
  const { request, authentication } = signedIn
  if (request.hasPermittedMethod || authentication || canBeCompleted(signedIn)) return null
  return createErrorStep(
    'methods',
    'unmet_authentication_requirements',
    'No sign-in method is permitted by the organization.',
  )
}

/** Also after a sign-in for this request, by a method that another tab offered. */
function requireAcceptableProof(signedIn: SignedIn): NextStep | null {
  return signedIn.isAcceptable || canBeCompleted(signedIn) ? null : requireLogin(signedIn.request, 'acr')
}

/** After a sign-in for this request the hint is not compared: users have more addresses than are stored. */
function requireHintedUser({ request, session }: SignedIn): NextStep | null {
  const { addressHint } = request
  if (session.signedInAt || session.isChosen || addressHint === null) return null
  return session.addresses.includes(addressHint) ? null : requireLogin(request, 'login_hint')
}

function requirePromptedLogin({ request: { prompt }, session }: SignedIn): NextStep | null {
  if (session.signedInAt) return null
  return prompt.includes('login') || prompt.includes('create') ? { step: 'login' } : null
}

/** The user signs in once for a voluntary request of an `acr`: a sign-in that does not satisfy it is accepted. */
function requireVoluntaryAcr(signedIn: SignedIn): NextStep | null {
  const { request, session, isAcceptable } = signedIn
  if (session.signedInAt || isPromptNone(request) || !isAcceptable || !canRaiseAcr(signedIn)) return null
  return { step: canRaiseBySecondFactor(signedIn) ? 'second-factor' : 'login' }
}

function requireSecondFactor({ request, isAcceptable }: SignedIn): NextStep | null {
  if (isAcceptable) return null
  return isPromptNone(request)
    ? createErrorStep('second_factor', 'login_required', 'The user must present a second factor.')
    : { step: 'second-factor' }
}

function requireRecentProof({ request, authentication }: SignedIn): NextStep | null {
  return authentication ? null : requireLogin(request, 'max_age')
}

/** A renewal without pages, which the user may not notice, continues. */
function requireTerms({ request, session }: SignedIn): NextStep | null {
  return session.mustAgreeToTerms && !isPromptNone(request) ? { step: 'terms' } : null
}

/** A member of several organizations chooses. Others learn nothing about an organization. */
function requireOrganization({ request, session: { organization } }: SignedIn): NextStep | null {
  if (organization === 'denied')
    return createErrorStep('organization', 'access_denied', 'The user is not a member of the organization.')
  if (organization === 'elsewhere')
    return createErrorStep('network', 'access_denied', 'The organization does not permit this network.')
  if (organization !== 'ask') return null
  return isPromptNone(request)
    ? createErrorStep('organization', 'interaction_required', 'The user must choose an organization.')
    : { step: 'organization' }
}

function requireConsent({ request, consent }: SignedIn): NextStep | null {
  if (!needsConsent(request, consent)) return null
  return isPromptNone(request)
    ? createErrorStep('consent', 'consent_required', 'The user must consent.')
    : { step: 'consent' }
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
function canBeCompleted({
  request: { secondFactor, claims },
  session: { proofs, hasSecondFactor },
  since,
  now,
}: SignedIn): boolean {
  if (!secondFactor.isUsable || !isAcceptableAcr(claims, ACR_MFA)) return false
  const first = selectAuthentication(proofs, { claims: null, since, isTwoFactor: false })
  return (
    first !== null &&
    (hasSecondFactor || first.authenticatedAt >= addSeconds(now, -ENROLLMENT_MAX_AGE_SECONDS))
  )
}

/** Whether a second factor, which the user has, satisfies the voluntary request of an `acr`. */
const canRaiseBySecondFactor = (signedIn: SignedIn): boolean =>
  signedIn.session.hasSecondFactor &&
  satisfiesAcrRequest(signedIn.request.claims?.id_token.acr ?? null, ACR_MFA) &&
  canBeCompleted(signedIn)

/**
 * Whether a sign-in could satisfy a voluntary request of an `acr` that the session does not satisfy (RFC 9470,
 * section 5).
 */
function canRaiseAcr({ request: { claims, supportedAcrs }, session: { proofs } }: SignedIn): boolean {
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
