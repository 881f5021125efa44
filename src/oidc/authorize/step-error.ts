import { type Diagnostics, OAuthError } from '../../core/oauth-error.ts'
import { readClaimName } from '../../model/claim-mappings.ts'
import type { PendingRequest } from '../model/authorize-request.ts'
import { type AuthorizationState, selectMaxAge } from './evaluate-request.ts'
import { listConsentScopes } from './required-consent.ts'
import type { FailedRule, NextStep } from './step-facts.ts'

/** The request with the state that it failed with. */
type FailedEvaluation = {
  request: PendingRequest
  authorization: AuthorizationState
  hasSessionCookie: boolean
  now: Date
}
type SignedInUser = NonNullable<AuthorizationState['signInState']>

/** The diagnostics of each failed rule. Rules about a user fail only when there is one. */
const RULE_DIAGNOSTICS: Record<FailedRule, (failed: FailedEvaluation, user: SignedInUser) => Diagnostics> = {
  acr: ({ request: { claims }, authorization: { supportedAcrs } }) => ({
    reason: 'no supported acr satisfies the essential acr claim',
    requested: JSON.stringify(claims?.id_token.acr ?? null),
    supported: supportedAcrs.join(' '),
  }),
  account: ({ authorization: { accounts } }) => ({
    reason: 'several accounts are signed in to this browser, and nothing in the request chooses among them',
    accounts: accounts.filter(({ isActive }) => isActive).length,
  }),
  session: ({ hasSessionCookie }) => ({
    reason: hasSessionCookie
      ? 'the session of the browser has ended, or its user is locked'
      : 'the browser sent no session cookie: no user is signed in, or it blocks cookies in frames of other sites',
  }),
  user: ({ request: { subjectHint } }, { userId }) => ({
    reason: 'the signed-in user is not the one that id_token_hint or the sub claim names',
    ...(subjectHint !== null && { expected: subjectHint }),
    signed_in: userId,
  }),
  login_hint: (_, { userId }) => ({
    reason: 'the login_hint is not an address of the signed-in user',
    signed_in: userId,
  }),
  max_age: ({ request, authorization, now }, { authenticatedAt }) => ({
    reason: 'the sign-in is older than max_age, or than the organization permits',
    max_age: selectMaxAge(request, authorization),
    age_seconds: Math.floor((now.getTime() - authenticatedAt.getTime()) / 1000),
    auth_time: authenticatedAt.toISOString(),
  }),
  second_factor: (_, { userId }) => ({
    reason: 'two factors are required, and the session has one',
    signed_in: userId,
  }),
  organization: ({ request: { organization } }, { userId, organizations }) => ({
    reason: organizations
      ? 'the user is a member of several organizations, and the request names none'
      : 'the user is not a member of the organization',
    signed_in: userId,
    requested: organization?.named ?? null,
  }),
  network: ({ authorization: { ip } }, { userId, organizations }) => ({
    reason: 'allowedNetworks of the organization does not have the address of the user',
    signed_in: userId,
    organizations: (organizations ?? []).map(({ id }) => id).join(' '),
    ip: ip ?? null,
  }),
  methods: ({ authorization: { organization } }, { userId }) => ({
    reason:
      'signInMethods of the organization has no method by which users of the tenant can sign in for the request',
    signed_in: userId,
    organization: organization?.id ?? null,
    permitted: organization?.signInMethods.join(' ') ?? '',
  }),
  consent: (
    { authorization: { scopes, claims, resources, client } },
    { userId, consentedScopes, consentedClaims, consentedResources },
  ) => {
    const missing = [
      ...listConsentScopes({ ...client, scopes }).filter((scope) => !consentedScopes?.includes(scope)),
      ...claims.filter((claim) => !consentedClaims?.includes(claim)).map(readClaimName),
      ...resources.filter((resource) => !consentedResources?.includes(resource)),
    ]
    return {
      reason: 'the signed-in user has not consented',
      signed_in: userId,
      missing: missing.join(' '),
    }
  },
}

/**
 * The error of a request that cannot continue without asking the user, or must not ask again, with
 * diagnostics.
 */
export const createStepError = (
  { error, description, rule }: Extract<NextStep, { step: 'error' }>,
  request: PendingRequest,
  authorization: AuthorizationState,
  hasSessionCookie: boolean,
): OAuthError =>
  new OAuthError(error, description, {
    diagnostics: RULE_DIAGNOSTICS[rule](
      { request, authorization, hasSessionCookie, now: new Date() },
      authorization.signInState as SignedInUser,
    ),
  })
