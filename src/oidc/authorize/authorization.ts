import { type CachedClient, findClient } from '../../clients/client-cache.ts'
import type { Ctx } from '../../ctx.ts'
import { sql } from '../../db.ts'
import { OAuthError, PayloadTooLarge } from '../../errors.ts'
import { findRequestingClient } from '../../registration/client-documents.ts'
import { browserSessionLookup } from '../../sessions/sessions.ts'
import type { CachedTenant } from '../../tenants/tenant-cache.ts'
import { addressKeyOf } from '../../users/addresses.ts'
import { mayUseDevices } from '../device/device-clients.ts'
import { grantableScopes } from '../scopes.ts'
import {
  type Interaction,
  interactionHashOf,
  type PendingRedirect,
  type PendingRequest,
  type Progress,
} from '../signin/interactions.ts'
import { type SignInState, selectSignInState } from '../signin/sign-in-state.sql.ts'
import { allowedResources } from '../token/audience.ts'
import { issueCode } from '../token/codes.ts'
import { readIdTokenHint } from '../token/id-tokens.ts'
import { claimsBeside } from '../userinfo/claims.ts'
import { parseAuthorizeRequest } from './authorize.ts'
import { type NextStep, nextStep, scopesToAgreeTo } from './next-step.ts'
import { unproven } from './parameters.ts'
import { provenTarget } from './proven-target.ts'
import { isPushedRequest, takePushedRequest } from './pushed-requests.ts'
import { isRegisteredRedirect } from './redirect-uris.ts'
import { type AuthorizationAnswer, codeAnswer, type ResponseTarget } from './response-modes.ts'

const addressHintOf = ({ loginHint }: PendingRequest): string | null =>
  loginHint === null ? null : addressKeyOf(loginHint)

const addressesOf = ({ email, phoneNumber }: SignInState): string[] =>
  [email, phoneNumber].flatMap((text) => (text && addressKeyOf(text)) || [])

/**
 * The address to fill in: whom the client expects, else who is signed in here, unless it is to be somebody else. A hint
 * that is no address gives way to one that is.
 */
export function expectedAddress(request: PendingRequest, state: SignInState | null): string | null {
  const isOther = request.subjectHint !== null && request.subjectHint !== state?.userId
  const known = state && !isOther ? state.email || state.phoneNumber : null
  return (addressHintOf(request) === null && known) || request.loginHint
}

/** Where a request stands: what comes next, who is signed in, and what that person would give. */
export type Standing = {
  next: NextStep
  state: SignInState | null
  scopes: string[]
  /** Asked for one by one, beside those of the scopes. */
  claims: string[]
  client: CachedClient
}

/** An authorize request that was checked, or what was wrong with it, and where the client is told. */
export type CheckedRequest = { request: PendingRedirect } | { error: OAuthError; target: ResponseTarget }

/** A request is kept while the person signs in, for whoever sent it: it must not be as long as a form may be. */
const MAX_REQUEST_CHARACTERS = 16_384

/** Checks the parameters of an authorize request, whichever way they came. Throws OAuthError, and PayloadTooLarge. */
export async function checkParameters(
  tenant: CachedTenant,
  client: CachedClient | null,
  params: URLSearchParams,
  { isPushed }: { isPushed: boolean },
): Promise<PendingRedirect> {
  if (params.toString().length > MAX_REQUEST_CHARACTERS) throw new PayloadTooLarge(MAX_REQUEST_CHARACTERS)
  const resources = await allowedResources(tenant, params.getAll('resource'))
  const request = parseAuthorizeRequest(params, client, resources, isPushed)
  const hint =
    request.idTokenHint === null ? null : await readIdTokenHint(tenant.tenantId, request.idTokenHint)
  return { ...request, idTokenHint: null, subjectHint: hint?.userId ?? null }
}

/**
 * Checks an authorize request as the browser brought it, or as it was pushed before (RFC 9126). Throws OAuthError while nothing
 * may be answered to the client; a later fault is for it to know.
 */
export async function checkRequest(
  ctx: Ctx,
  tenant: CachedTenant,
  given: URLSearchParams,
): Promise<CheckedRequest> {
  const isPushed = isPushedRequest(given)
  const params = isPushed ? await takePushedRequest(tenant.tenantId, given) : given
  const client = await findRequestingClient(ctx, tenant, params.get('client_id') ?? '')
  try {
    return { request: await checkParameters(tenant, client, params, { isPushed }) }
  } catch (error) {
    if (!(error instanceof OAuthError && error.redirect)) throw error
    return { error, target: provenTarget(params, client) }
  }
}

/** Whether the client may still be answered in the way that its request wants. */
const isAnswerable = (client: CachedClient, request: PendingRequest): boolean =>
  request.responseMode === 'device'
    ? mayUseDevices(client)
    : isRegisteredRedirect(client, request.redirectUri)

/**
 * Finds out where a request stands: one statement when the browser has a session cookie, none otherwise. Throws
 * OAuthError that is not redirected when the client, or its redirect_uri, is gone since.
 */
export async function standingOf(
  ctx: Ctx,
  request: PendingRequest,
  progress: Progress,
  sessionToken: string | null,
  now = new Date(),
): Promise<Standing> {
  const client = await findClient(ctx.tenant, request.clientId)
  if (!client || !isAnswerable(client, request)) throw unproven('The application is not registered any more.')
  const state = sessionToken
    ? await selectSignInState(sql, browserSessionLookup(ctx.tenant, sessionToken, now, ctx), client.id)
    : null
  const scopes = grantableScopes(request.scopes, client, state?.roles ?? [])
  const next = nextStep(
    { ...request, scopes, requireConsent: client.requireConsent, addressHint: addressHintOf(request) },
    state && { ...state, addresses: addressesOf(state), isFresh: progress.sessionId === state.id },
    state && {
      scopes: state.consentedScopes ?? [],
      claims: state.consentedClaims ?? [],
      isFresh: progress.consentedIn === state.id,
    },
    now,
  )
  return { next, state, scopes, claims: claimsBeside(request.claims, scopes), client }
}

/**
 * Issues the code and answers with it (RFC 6749, section 4.1.2), ending the interaction. Null when the session or the user was
 * ended or locked meanwhile, the consent taken back, or the interaction was finished by another submission.
 */
export async function grantAnswer(
  ctx: Ctx,
  request: PendingRedirect,
  { state, scopes, client }: Standing,
  interaction: Interaction | null,
): Promise<AuthorizationAnswer | null> {
  if (!state) return null
  const code = await issueCode(ctx, request, state, {
    scopes,
    interactionHash: interaction && interactionHashOf(interaction),
    needsConsent: scopesToAgreeTo({ requireConsent: client.requireConsent, scopes }).length > 0,
  })
  return code === null ? null : codeAnswer(ctx.tenant, request, code)
}
