import { type CachedClient, findClient } from '../../access/client-cache.ts'
import { findTenant } from '../../access/tenant-cache.ts'
import { mayUseDevices } from '../../clients/device-clients.ts'
import type { Ctx } from '../../core/context.ts'
import type { Channel } from '../../core/sign-in-methods.ts'
import { sql } from '../../database/db.ts'
import { toAddressKey } from '../../schema/address-keys.ts'
import { listProofs } from '../../sessions/proofs.ts'
import { buildBrowserSessionLookup } from '../../sessions/sessions.ts'
import type { Progress } from '../interactions/interactions.ts'
import { listSupportedAcrs } from '../model/acr.ts'
import type { PendingRequest } from '../model/authorize-request.ts'
import { listExtraClaims } from '../model/claims-request.ts'
import { isRegisteredRedirect } from '../model/redirect-uris.ts'
import { createUnredirectableError } from '../model/request-parameters.ts'
import { selectGrantableScopes } from '../model/scopes.ts'
import { type NextStep, selectNextStep } from './next-step.ts'
import { type SignInState, selectSignInState } from './sign-in-state.sql.ts'

const getAddressHint = ({ loginHint }: PendingRequest): string | null =>
  loginHint === null ? null : toAddressKey(loginHint)

const listAddressKeys = ({ email, phoneNumber }: SignInState): string[] =>
  [email, phoneNumber].flatMap((text) => (text && toAddressKey(text)) || [])

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
  const own = state && !isOther ? { email: state.email, sms: state.phoneNumber } : {}
  const known = channels.map((channel) => own[channel]).find(Boolean) ?? null
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
  scopes: string[]
  /** Individually requested claims that no scope covers. */
  claims: string[]
  client: CachedClient
  /** The `acr` of each sign-in method of the tenant. */
  supportedAcrs: string[]
}

/** Whether the client is still allowed to receive the response of the request. */
const canReceiveResponse = (client: CachedClient, request: PendingRequest): boolean =>
  request.responseMode === 'device'
    ? mayUseDevices(client)
    : isRegisteredRedirect(client, request.redirectUri)

/**
 * Evaluates a request: one statement when the browser has a session cookie, none otherwise. Throws
 * OAuthError, not redirected, when the client or its redirect_uri is no longer registered.
 */
export async function evaluateRequest(
  ctx: Ctx,
  request: PendingRequest,
  progress: Progress,
  sessionToken: string | null,
  now = new Date(),
): Promise<AuthorizationState> {
  const [client, tenant] = await Promise.all([
    findClient(ctx.tenant, request.clientId),
    findTenant(ctx.tenant),
  ])
  const supportedAcrs = tenant ? listSupportedAcrs(tenant) : []
  if (!client || !canReceiveResponse(client, request))
    throw createUnredirectableError('The application is no longer registered.')
  const state = sessionToken
    ? await selectSignInState(sql, buildBrowserSessionLookup(ctx.tenant, sessionToken, now, ctx), client.id)
    : null
  return evaluateState(request, progress, { client, supportedAcrs }, state, now)
}

/** Evaluates a request for the user who is signed in, if any. Pure. */
export function evaluateState(
  request: PendingRequest,
  progress: Progress,
  { client, supportedAcrs }: Pick<AuthorizationState, 'client' | 'supportedAcrs'>,
  state: SignInState | null,
  now: Date,
): AuthorizationState {
  const scopes = selectGrantableScopes(request.scopes, client, state?.roles ?? [])
  const next = selectNextStep(
    {
      ...request,
      scopes,
      requireConsent: client.requireConsent,
      addressHint: getAddressHint(request),
      supportedAcrs,
    },
    state && {
      userId: state.userId,
      proofs: listProofs(state),
      addresses: listAddressKeys(state),
      signedInAt: getSignInTime(progress, state),
    },
    state && {
      scopes: state.consentedScopes ?? [],
      claims: state.consentedClaims ?? [],
      isFresh: progress.consentedIn === state.id,
    },
    now,
  )
  return {
    next,
    signInState: state,
    scopes,
    claims: listExtraClaims(request.claims, scopes),
    client,
    supportedAcrs,
  }
}
