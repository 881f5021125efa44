import { findClient } from '../../access/client-cache.ts'
import { findDeclaredApis } from '../../access/declared-resources.ts'
import { findTenant } from '../../access/tenant-cache.ts'
import { canUseGrant, DEVICE_CODE_GRANT } from '../../clients/client-grants.ts'
import type { Ctx } from '../../context/context.ts'
import { addSeconds } from '../../core/time.ts'
import { type ClaimMapping, listApiMappings, listClientMappings } from '../../model/claim-mappings.ts'
import { ACR_MFA, type Channel, getMethodAcr, type SignInMethodName } from '../../model/sign-in-methods.ts'
import { parsePhoneNumber } from '../../schema/phone-numbers.ts'
import { listProofs } from '../../sessions/proofs.ts'
import { selectRequiredTerms } from '../../sign-up/terms-consent.ts'
import { type SecondFactorPolicy, selectPolicy } from '../../tenants/second-factor-policy.ts'
import { listMappedClaims } from '../../users/mapped-claims.ts'
import type { Progress } from '../interactions/progress.ts'
import { createAccountPagesClient, type RequestingClient } from '../model/account-pages-client.ts'
import { listSupportedAcrs } from '../model/acr.ts'
import type { OwnOrganization, PendingRequest } from '../model/authorize-request.ts'
import { isAcceptableAcr, listExtraClaims } from '../model/claims-request.ts'
import { permitsMethod, selectCountingProofs } from '../model/organization-demands.ts'
import { isRegisteredRedirect } from '../model/redirect-uris.ts'
import { createUnredirectableError } from '../model/request-parameters.ts'
import { selectGrantableScopes } from '../model/scopes.ts'
import { type SecondFactorTerms, selectSecondFactorTerms } from '../model/second-factor.ts'
import { listOtherApis, type TenantAudience } from '../token/audience.ts'
import {
  type AccountChoice,
  type AccountState,
  findAccounts,
  getAddressHint,
  listAddressKeys,
} from './account-choice.ts'
import { selectNextStep } from './next-step.ts'
import { chooseOrganization } from './organization-choice.ts'
import { type ProvenUser, type SignInState, selectProvenUser } from './sign-in-state.sql.ts'
import type { NextStep } from './step-facts.ts'

/** The first address of a user that receives codes by one of the channels; null without one. */
function findOwnAddress({ email, phoneNumber }: SignInState, channels: readonly Channel[]): string | null {
  for (const channel of channels) {
    // A number without its country code receives none. Parsing it takes as long as the rest of the evaluation.
    const address = channel === 'email' ? email : phoneNumber && parsePhoneNumber(phoneNumber)
    if (address) return address
  }
  return null
}

/**
 * The address to prefill: the login_hint, or else an address of the signed-in user, unless the request is
 * about another user. A login_hint that is not an address yields to one of the user. An address of another
 * channel than `channels` is none.
 */
export function selectExpectedAddress(
  request: PendingRequest,
  state: SignInState | null,
  channels: readonly Channel[],
): string | null {
  const isOther = request.subjectHint !== null && request.subjectHint !== state?.userId
  const known = state && !isOther ? findOwnAddress(state, channels) : null
  const hint = getAddressHint(request)
  if (hint === null) return known ?? request.loginHint
  return channels.includes(hint.includes('@') ? 'email' : 'sms') ? request.loginHint : known
}

/** When the session's user signed in for this request; null if that was before it. */
const getSignInTime = (
  { sessionId, signedInAt }: Progress,
  { id, authenticatedAt }: SignInState,
): Date | null => (sessionId === id ? (signedInAt ? new Date(signedInAt) : authenticatedAt) : null)

/** The state of a request: the next step, the signed-in user, and what that user can grant. */
export type AuthorizationState = {
  next: NextStep
  signInState: SignInState | null
  /** The organization that tokens are for. */
  organization: OwnOrganization | null
  /** The accounts of the browser, the current one first. */
  accounts: AccountState[]
  scopes: string[]
  /** The APIs that tokens may be used at, without those of this deployment and of the client itself. */
  resources: string[]
  /** Claims that no scope covers: individually requested ones, and those of mappings. */
  claims: string[]
  client: RequestingClient
  /** The claims of the APIs of the request, for a client that asks for consent. */
  apiMappings: readonly ClaimMapping[]
  /** The `acr` of each sign-in method of the tenant. */
  supportedAcrs: string[]
  secondFactorPolicy: SecondFactorPolicy
  /** The methods by which users of the tenant sign in. */
  signInMethods: readonly string[]
  /** The address of the user; null where it is not known, undefined for any. */
  ip: string | null | undefined
  /** The version of the terms of use that users must have agreed to; null for none. */
  requiredTerms: string | null
  /** What decides which APIs tokens are for when the request names none. */
  tenantAudience: TenantAudience
  /** Whether the user may, and must, present a second factor. */
  secondFactor: SecondFactorTerms
  /** The user of a first proof, for whom there is no session yet. */
  provenUser: ProvenUser | null
}

/** How long a first proof waits for the second factor. */
const FIRST_PROOF_LIFETIME_SECONDS = 15 * 60

/** The user of the first proof, if it is recent: one statement, none without a first proof. */
async function findProvenUser(ctx: Ctx, { firstProof }: Progress, now: Date): Promise<ProvenUser | null> {
  if (!firstProof || new Date(firstProof.proof.at) < addSeconds(now, -FIRST_PROOF_LIFETIME_SECONDS))
    return null
  return selectProvenUser(ctx.db, firstProof.userId)
}

/** Whether the client is still allowed to receive the response of the request. */
const canReceiveResponse = (client: RequestingClient, request: PendingRequest): boolean =>
  request.responseMode === 'device'
    ? canUseGrant(client, DEVICE_CODE_GRANT)
    : request.responseMode === 'account' || isRegisteredRedirect(client, request.redirectUri)

/**
 * Evaluates a request for a browser with the session tokens `tokens`: see findAccounts; one more statement when the user
 * gave a first proof. Throws OAuthError, not redirected, when the client or its redirect_uri is no longer registered.
 */
export async function evaluateRequest(
  ctx: Ctx,
  request: PendingRequest,
  progress: Progress,
  tokens: readonly string[],
): Promise<AuthorizationState> {
  const now = new Date()
  const terms = await findRequestTerms(ctx, request)
  const { accounts, ...choice } = await findAccounts(
    ctx,
    { request, progress, clientId: terms.client.id },
    tokens,
    now,
  )
  const provenUser = await findProvenUser(ctx, progress, now)
  return evaluateState(request, progress, { ...terms, provenUser, accounts }, choice, now)
}

/** What the client and the settings of the tenant decide for a request. */
export type RequestTerms = Pick<
  AuthorizationState,
  | 'client'
  | 'apiMappings'
  | 'supportedAcrs'
  | 'secondFactorPolicy'
  | 'signInMethods'
  | 'ip'
  | 'requiredTerms'
  | 'tenantAudience'
>

/** The mappings of the APIs of a request: no statement where it is for this deployment alone, or the APIs are cached. */
async function listMappingsOfApis(
  tenant: string,
  request: PendingRequest,
  defaultAudience: string | null,
): Promise<ClaimMapping[]> {
  const apis = request.resources.length > 0 ? request.resources : defaultAudience ? [defaultAudience] : []
  return (await findDeclaredApis(tenant, apis)).flatMap((api) => [...listApiMappings(api)])
}

/** Finds the terms of a request. Throws OAuthError, not redirected, as `evaluateRequest` does. */
export async function findRequestTerms(ctx: Ctx, request: PendingRequest): Promise<RequestTerms> {
  const [registered, tenant] = await Promise.all([
    request.responseMode === 'account' ? null : findClient(ctx.tenant, request.clientId),
    findTenant(ctx.tenant),
  ])
  const client = request.responseMode === 'account' && tenant ? createAccountPagesClient(tenant) : registered
  if (!client || !canReceiveResponse(client, request))
    throw createUnredirectableError('The application is no longer registered.')
  const defaultAudience = tenant?.defaultAudience ?? null
  return {
    client,
    apiMappings: client.requireConsent ? await listMappingsOfApis(ctx.tenant, request, defaultAudience) : [],
    supportedAcrs: tenant ? listSupportedAcrs(tenant) : [],
    secondFactorPolicy: selectPolicy(tenant),
    signInMethods: tenant?.signInMethods ?? [],
    ip: ctx.ip,
    requiredTerms: selectRequiredTerms(tenant),
    tenantAudience: { tenantId: ctx.tenant, defaultAudience },
  }
}

/**
 * The max_age of a request; without one, that of the client (OIDC Registration 1.0, section 2: default_max_age). The
 * organization of the tokens may permit less.
 */
export function selectMaxAge(
  { maxAgeSeconds }: Pick<PendingRequest, 'maxAgeSeconds'>,
  {
    client: { defaultMaxAge },
    organization,
  }: { client: Pick<RequestingClient, 'defaultMaxAge'> } & Pick<AuthorizationState, 'organization'>,
): number | null {
  const demanded = [maxAgeSeconds ?? defaultMaxAge, organization?.sessionLifetimeSeconds ?? null]
  const seconds = demanded.filter((each) => each !== null)
  return seconds.length > 0 ? Math.min(...seconds) : null
}

/** Whether a method of the tenant is permitted by the organization, and leads to an `acr` that the request accepts. */
const hasPermittedMethod = (
  { claims }: Pick<PendingRequest, 'claims'>,
  { signInMethods }: Pick<RequestTerms, 'signInMethods'>,
  { organization, secondFactor }: Pick<AuthorizationState, 'organization' | 'secondFactor'>,
): boolean =>
  !organization?.signInMethods.length ||
  (signInMethods as readonly SignInMethodName[]).some(
    (name) =>
      permitsMethod(organization, name) &&
      (name === 'provider' ||
        isAcceptableAcr(claims, getMethodAcr(name)) ||
        (secondFactor.isUsable && isAcceptableAcr(claims, ACR_MFA))),
  )

/** Evaluates a request for the user who is signed in, if any. Pure. */
export function evaluateState(
  request: PendingRequest,
  progress: Progress,
  given: RequestTerms & Pick<AuthorizationState, 'provenUser' | 'accounts'>,
  { state, isAmbiguous, isChosen }: AccountChoice,
  now: Date,
): AuthorizationState {
  const { client, supportedAcrs, requiredTerms, provenUser } = given
  const { roles } = provenUser ?? state ?? { roles: [] }
  const choice = state ? chooseOrganization(request, progress, state, given.ip, now) : null
  const organization = choice?.organization ?? null
  const requireSecondFactor = client.requireSecondFactor || organization?.requireSecondFactor === true
  const secondFactor = selectSecondFactorTerms(given.secondFactorPolicy, { requireSecondFactor }, roles)
  const scopes = selectGrantableScopes(request.scopes, client, state?.roles ?? [])
  const resources = listOtherApis(given.tenantAudience, scopes, request.resources).filter(
    (resource) => !client.resources.includes(resource),
  )
  const mappedClaims = listMappedClaims([...listClientMappings(client), ...given.apiMappings], scopes)
  const next = selectNextStep(
    {
      ...request,
      resources,
      mappedClaims,
      maxAgeSeconds: selectMaxAge(request, { client, organization }),
      scopes,
      requireConsent: client.requireConsent,
      addressHint: getAddressHint(request),
      supportedAcrs,
      secondFactor,
      hasFirstProof: provenUser !== null,
      hasAccounts: given.accounts.length > 0,
      hasPermittedMethod: hasPermittedMethod(request, given, { organization, secondFactor }),
      isAnother: progress.isAnother === true,
    },
    state && {
      userId: state.userId,
      proofs: selectCountingProofs(organization, listProofs(state)),
      addresses: listAddressKeys(state),
      hasSecondFactor: state.hasSecondFactor,
      organization: choice?.outcome ?? 'none',
      mustAgreeToTerms: requiredTerms !== null && state.termsVersion !== requiredTerms,
      signedInAt: getSignInTime(progress, state),
      isAmbiguous,
      isChosen,
    },
    state?.consentedScopes
      ? {
          scopes: state.consentedScopes,
          claims: state.consentedClaims ?? [],
          resources: state.consentedResources ?? [],
          isFresh: progress.consentedIn === state.id,
        }
      : null,
    now,
  )
  return {
    ...given,
    next,
    signInState: state,
    organization,
    scopes,
    resources,
    claims: [...new Set([...listExtraClaims(request.claims, scopes), ...mappedClaims])],
    secondFactor,
  }
}
