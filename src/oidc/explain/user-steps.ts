import type { CachedTenant } from '../../access/tenant-cache.ts'
import type { User } from '../../generated/prisma/client.ts'
import { type NewProof, toSessionProof } from '../../sessions/proofs.ts'
import { type AuthorizationState, evaluateState, type RequestTerms } from '../authorize/evaluate-request.ts'
import { listConsentScopes } from '../authorize/required-consent.ts'
import type { SignInState } from '../authorize/sign-in-state.sql.ts'
import type { FailedRule, NextStep } from '../authorize/step-facts.ts'
import type { Progress } from '../interactions/progress.ts'
import type { PendingRequest } from '../model/authorize-request.ts'
import { needsSecondFactor, selectSecondFactorTerms } from '../model/second-factor.ts'
import { TOTP_PROOF } from '../signin/second-factor/second-factor-sign-in.ts'
import { explainOrganizationPolicy } from './organization-steps.ts'
import type { SignInCheck, SignInRule, SignInStep } from './sign-in-explanation.fields.ts'
import { createStep, type ExplainedUser, listMethods, toMethodStep } from './user-methods.ts'

/** A valid request, and what decides about it besides the user. */
export type ExplainedRequest = { request: PendingRequest; terms: RequestTerms; tenant: CachedTenant }

/** How a sign-in by a proof continues: the pages that follow it, and the state that it ends in. */
export type Walk = { pages: NextStep['step'][]; state: AuthorizationState }

const NO_ACCOUNT = { state: null, isAmbiguous: false, isChosen: false }
/** Pages that a sign-in shows at most; each is answered once. */
const MAX_PAGES = 6

/** The session of a user who has just given the proofs. */
const toSignInState = (
  { user, consent, organizations }: Pick<ExplainedUser, 'user' | 'consent' | 'organizations'>,
  proofs: readonly NewProof[],
  now: Date,
): SignInState => ({
  ...{ id: 'explained', userId: user.id, isUseDue: false, authenticatedAt: now, lastSeenAt: now, amr: [] },
  proofs: proofs.map((proof) => toSessionProof(proof, now)),
  ...{ roles: user.roles, name: user.name, email: user.email, phoneNumber: user.phoneNumber },
  ...{ locale: user.locale, passkeyOfferedAt: user.passkeyOfferedAt, hasSecondFactor: user.hasSecondFactor },
  ...{ termsVersion: user.termsVersion, codeGeneration: user.codeGeneration },
  ...{ organizations, lastOrganizationId: null },
  ...consent,
})

/** Follows a sign-in by a first proof, in which the user does what each page asks for. Pure. */
export function walkSignIn(
  { request, terms }: Pick<ExplainedRequest, 'request' | 'terms'>,
  explained: Pick<ExplainedUser, 'user' | 'consent' | 'organizations'>,
  proof: NewProof,
  now: Date,
): Walk {
  const { user } = explained
  const factorTerms = selectSecondFactorTerms(terms.secondFactorPolicy, terms.client, user.roles)
  const followsFactor = needsSecondFactor(factorTerms, request.claims, proof.amr, user.hasSecondFactor)
  const pages: Walk['pages'] = followsFactor ? ['second-factor'] : []
  let state = toSignInState(explained, followsFactor ? [proof, TOTP_PROOF] : [proof], now)
  let progress: Progress = { sessionId: state.id, signedInAt: now.toISOString() }
  for (;;) {
    const choice = { state, isAmbiguous: false, isChosen: true }
    const evaluated = evaluateState(
      request,
      progress,
      { ...terms, provenUser: null, accounts: [] },
      choice,
      now,
    )
    const { step } = evaluated.next
    if (!['second-factor', 'terms', 'organization', 'consent'].includes(step) || pages.length > MAX_PAGES)
      return { pages, state: evaluated }
    pages.push(step)
    if (step === 'second-factor')
      state = { ...state, proofs: [...state.proofs, toSessionProof(TOTP_PROOF, now)], hasSecondFactor: true }
    if (step === 'terms') state = { ...state, termsVersion: terms.requiredTerms }
    // Whichever the user chooses.
    if (step === 'organization') progress = { ...progress, organizationId: state.organizations?.[0]?.id }
    if (step === 'consent') {
      state = { ...state, ...mergeConsent(state, evaluated) }
      progress = { ...progress, consentedIn: state.id }
    }
  }
}

const merge = (one: readonly string[] | null, other: readonly string[]) => [
  ...new Set([...(one ?? []), ...other]),
]

/** The consent after the user has agreed; see UPSERT_CONSENT. */
const mergeConsent = (
  { consentedScopes, consentedClaims, consentedResources }: SignInState,
  { scopes, claims, resources }: AuthorizationState,
): ExplainedUser['consent'] => ({
  consentedScopes: merge(consentedScopes, scopes),
  consentedClaims: merge(consentedClaims, claims),
  consentedResources: merge(consentedResources, resources),
})

/** The request before anybody has signed in. Pure. */
const startSignIn = ({ request, terms }: Pick<ExplainedRequest, 'request' | 'terms'>, now: Date) =>
  evaluateState(request, {}, { ...terms, provenUser: null, accounts: [] }, NO_ACCOUNT, now)

/** The check of each rule by which a request fails, and how it is met. */
const FAILED_RULES: Record<
  Exclude<FailedRule, 'network' | 'methods'>,
  { check: SignInCheck; parameter: string }
> = {
  acr: { check: 'acr', parameter: 'claims' },
  account: { check: 'session', parameter: 'prompt' },
  session: { check: 'session', parameter: 'prompt' },
  user: { check: 'subject', parameter: 'id_token_hint' },
  login_hint: { check: 'session', parameter: 'login_hint' },
  max_age: { check: 'session', parameter: 'max_age' },
  second_factor: { check: 'second-factor', parameter: 'prompt' },
  organization: { check: 'organization', parameter: 'organization' },
  consent: { check: 'consent', parameter: 'prompt' },
}

/** The step of a rule that fails; none of a rule of the organization, whose policy has steps. */
function toErrorSteps({ rule, error, description }: Extract<NextStep, { step: 'error' }>): SignInStep[] {
  if (rule === 'network' || rule === 'methods') return []
  const { check, parameter } = FAILED_RULES[rule]
  const remedy = { action: 'change-request', parameter } as const
  return [createStep(check, 'failed', 'request', description, { error, remedy })]
}

function selectFactorRule(
  { client, secondFactorPolicy: { mode, requiredOfRoles } }: RequestTerms,
  { roles, hasSecondFactor }: Pick<User, 'roles' | 'hasSecondFactor'>,
  isAsked: boolean,
  organization: AuthorizationState['organization'],
): SignInRule {
  if (client.requireSecondFactor) return 'clientRequireSecondFactor'
  if (mode === 'required') return 'tenantSecondFactor'
  if (roles.some((role) => requiredOfRoles.includes(role))) return 'tenantSecondFactorRoles'
  if (organization?.requireSecondFactor) return 'organizationRequireSecondFactor'
  if (mode === 'off') return 'tenantSecondFactor'
  return hasSecondFactor || !isAsked ? 'userCredentials' : 'request'
}

function explainSecondFactor(
  terms: RequestTerms,
  user: User,
  walks: readonly { name: string; walk: Walk }[],
): SignInStep {
  const asking = walks.filter(({ walk }) => walk.pages.includes('second-factor')).map(({ name }) => name)
  const isAsked = asking.length > 0
  return createStep(
    'second-factor',
    isAsked ? 'asked' : 'passed',
    selectFactorRule(
      terms,
      user,
      isAsked,
      walks.find(({ walk }) => walk.state.organization)?.walk.state.organization ?? null,
    ),
    !isAsked
      ? 'No second factor is asked for.'
      : user.hasSecondFactor
        ? 'The user is asked for a second factor.'
        : 'The user is asked to set up a second factor, or to present a passkey.',
    { values: asking },
  )
}

function explainTerms({ terms }: Pick<ExplainedRequest, 'terms'>, { pages }: Walk): SignInStep | null {
  if (terms.requiredTerms === null) return null
  return pages.includes('terms')
    ? createStep('terms', 'asked', 'tenantTerms', 'The user is asked to agree to the terms of use.', {
        values: [terms.requiredTerms],
      })
    : createStep('terms', 'passed', 'tenantTerms', 'The user has agreed to the terms of use.')
}

function explainOrganization({ request }: ExplainedRequest, { pages, state }: Walk): SignInStep | null {
  const demand = request.organization
  if (!demand) return null
  const rule = demand.named === null ? 'clientOrganization' : 'request'
  const values = (state.signInState?.organizations ?? []).map(({ slug }) => slug)
  return pages.includes('organization')
    ? createStep('organization', 'asked', rule, 'The user is asked for the organization.', { values })
    : createStep(
        'organization',
        'passed',
        rule,
        values.length > 0
          ? 'The user is a member of the organization.'
          : 'The user is a member of no organization, and the client requires none.',
        { values },
      )
}

function explainConsent({ request, terms }: ExplainedRequest, { pages, state }: Walk): SignInStep {
  const { requireConsent } = terms.client
  const isAsked = pages.includes('consent')
  const consentScopes = [...listConsentScopes({ requireConsent, scopes: state.scopes })]
  const rule: SignInRule = request.prompt.includes('consent')
    ? 'request'
    : !isAsked && (requireConsent || consentScopes.length > 0)
      ? 'userConsent'
      : requireConsent
        ? 'clientRequireConsent'
        : consentScopes.length > 0
          ? 'clientScopes'
          : 'clientRequireConsent'
  return isAsked
    ? createStep('consent', 'asked', rule, 'The user is asked for consent.', { values: consentScopes })
    : createStep(
        'consent',
        'passed',
        rule,
        rule === 'userConsent' ? 'The user has consented.' : 'The client asks for no consent.',
      )
}

function explainScopes({ request }: ExplainedRequest, { state }: Walk): SignInStep {
  const left = request.scopes.filter((scope) => !state.scopes.includes(scope))
  return createStep(
    'granted-scopes',
    'passed',
    left.length > 0 ? 'userRoles' : 'clientScopes',
    left.length > 0
      ? `The roles of the user do not include ${left.join(' ')}: left out.`
      : 'The user grants the scopes of the request.',
    { values: state.scopes },
  )
}

/** What follows the proofs: the error that ends the sign-in, or what the user is asked and grants. */
function explainEnd(explained: ExplainedRequest, walk: Walk): SignInStep[] {
  const policy = explainOrganizationPolicy(walk.state, explained.tenant.sessionLifetimeSeconds)
  if (walk.state.next.step === 'error') return [...toErrorSteps(walk.state.next), ...policy]
  const asked = [explainTerms(explained, walk), explainOrganization(explained, walk)]
  return [
    ...asked.filter((step) => step !== null),
    ...policy,
    // The account pages are no client.
    ...(explained.request.responseMode === 'account'
      ? []
      : [explainConsent(explained, walk), explainScopes(explained, walk)]),
  ]
}

/** Whether the user is locked, which ends every sign-in. */
export const explainLock = ({ id, locked }: Pick<User, 'id' | 'locked'>): SignInStep =>
  locked
    ? createStep('lock', 'failed', 'userLocked', 'The user is locked.', {
        remedy: { action: 'unlock-user', targetId: id },
      })
    : createStep('lock', 'passed', 'userLocked', 'The user is not locked.')

/** The steps of a user, and the walk of the first method that leads to tokens; null without one. */
export type UserSteps = { steps: SignInStep[]; walk: Walk | null; isUnknown: boolean }

/**
 * What a valid request leads to for a user whose browser has no session; without a user, the methods that it offers. By
 * the functions by which the authorization endpoint and the sign-in decide. Pure.
 */
export function listUserSteps(explained: ExplainedRequest, user: ExplainedUser | null, now: Date): UserSteps {
  const { request, terms, tenant } = explained
  const start = startSignIn(explained, now)
  const { roles } = user?.user ?? { roles: [] }
  const secondFactor = selectSecondFactorTerms(terms.secondFactorPolicy, terms.client, roles)
  const methods = listMethods(
    { call: { tenant }, interaction: { request }, authorization: { secondFactor, organization: null } },
    user,
  )
  const steps: SignInStep[] = []
  if (start.next.step === 'error') steps.push(...toErrorSteps(start.next))
  steps.push(...methods.map(toMethodStep))
  const usable = methods.filter(({ problem }) => problem === null)
  const isUnknown = methods.some(({ problem }) => problem?.isUnknown)
  if (usable.length === 0 && !isUnknown)
    steps.push(createStep('method', 'failed', 'tenantSignInMethods', 'The user can use none of the methods.'))
  // Nothing follows a request that nobody may sign in for.
  if (!user || start.next.step === 'error') return { steps, walk: null, isUnknown }
  const walks = usable.map(({ name, proof }) => ({ name, walk: walkSignIn(explained, user, proof, now) }))
  const [first] = walks
  if (!first) return { steps, walk: null, isUnknown }
  const ended = walks.find(({ walk }) => walk.state.next.step === 'issue') ?? first
  steps.push(explainSecondFactor(terms, user.user, walks), ...explainEnd(explained, ended.walk))
  const leads = ended.walk.state.next.step === 'issue' && !user.user.locked
  return { steps, walk: leads ? ended.walk : null, isUnknown: false }
}
