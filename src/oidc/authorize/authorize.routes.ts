import type { H3 } from 'h3'
import { findClient } from '../../access/client-cache.ts'
import { answerPreflight, type TenantCall } from '../../access/endpoint.http.ts'
import type { CachedTenant } from '../../access/tenant-cache.ts'
import { env } from '../../core/env.ts'
import { noteClient } from '../../core/requests/record.ts'
import { addQueryParameters } from '../../http/redirects.ts'
import { readQuery } from '../../http/request.http.ts'
import { readFormParams, requireSingleParams } from '../../http/request-body.http.ts'
import { readSessionTokens } from '../../pages/account-cookies.ts'
import { LeavePage } from '../../pages/external-redirect.pages.tsx'
import {
  addOAuthRoute,
  addPageRoute,
  createUncachedJson,
  redirectTo,
  renderComponent,
} from '../../pages/responses.http.ts'
import { loadDocumentClient } from '../../registration/client-documents.ts'
import { limitPendingRequest, readTokenRequest } from '../client-auth/client-request.http.ts'
import {
  buildInteractionCookie,
  openInteraction,
  readInteractionKey,
} from '../interactions/browser-binding.ts'
import { createInteraction, findInteraction, type ResumableSignIn } from '../interactions/interactions.ts'
import { buildSignInPath } from '../interactions/sign-in-path.ts'
import type { PendingRedirect } from '../model/authorize-request.ts'
import { isUnreviewed } from '../model/unreviewed-clients.ts'
import { evaluateRequest } from './evaluate-request.ts'
import { issueCodeResponse } from './issue-answer.ts'
import { buildLoginInitiationUrl } from './login-initiation.ts'
import {
  extractPushedParameters,
  isPushedRequest,
  openPushedRequest,
  storePushedRequest,
} from './pushed-requests.ts'
import { checkParameters, type RejectedRequest, validateParameters } from './request-checks.ts'
import { sendAuthorizationResponse } from './response-modes.http.ts'
import { sendErrorResponse } from './send-error.http.ts'
import { createStepError } from './step-error.ts'
import type { NextStep } from './step-facts.ts'

/**
 * The authorization endpoint (RFC 6749, section 3.1; OIDC Core, section 3.1.2), that of pushed requests (RFC 9126, section 2),
 * and third-party initiated login (OIDC Core, section 4): a portal, an e-mail or a hosted page asks a client to start a sign-in.
 */
export function addAuthorizeRoutes(app: H3): void {
  const authorize = { GET: handleAuthorize, HEAD: null, POST: handleAuthorizePost }
  addPageRoute(app, '/:tenant/oidc/authorize', authorize, 'authorize.refused')
  addOAuthRoute(app, '/:tenant/oidc/par', { POST: handlePush, OPTIONS: answerPreflight }, 'authorize.refused')
  addPageRoute(app, '/:tenant/oidc/initiate', { GET: handleInitiate }, 'authorize.refused')
}

/** The browser comes from anywhere and has been shown nothing. */
const UNSEEN = { hasSeenPage: false }

/**
 * A validated authorize request, with the handle of its sign-in if it was pushed; the sign-in that it started before; or
 * its error.
 */
type ReadRequest =
  | { request: PendingRedirect; signIn?: ResumableSignIn }
  | { pendingHandle: string }
  | RejectedRequest

/**
 * Reads the request, or the pushed request that it refers to (RFC 9126, section 4). Attributes the call to its client.
 * Throws OAuthError, not redirected, RateLimited and PayloadTooLarge.
 */
async function readRequest(call: TenantCall, sent: URLSearchParams): Promise<ReadRequest> {
  const { ctx, tenant } = call
  call.setClient(sent.get('client_id'))
  const isPushed = isPushedRequest(sent)
  const opened = isPushed ? await openPushedRequest(ctx.db, sent) : { params: sent }
  if ('pendingHandle' in opened) return opened
  const clientId = opened.params.get('client_id') ?? ''
  await loadDocumentClient(ctx, tenant, clientId)
  const client = await findClient(ctx.tenant, clientId)
  if (client) noteClient(client.id)
  const checked = await checkParameters(tenant, client, opened.params, { isPushed })
  return 'error' in checked ? checked : { ...checked, signIn: opened.signIn }
}

/**
 * GET: answers at once when no interaction with the user is needed, otherwise redirects to the hosted pages.
 */
async function handleAuthorize(call: TenantCall): Promise<Response> {
  const { event, tenant, ctx } = call
  const cookies = event.req.headers.get('cookie')
  const params = readQuery(event)
  const checked = await readRequest(call, params)
  if ('pendingHandle' in checked) return resumeSignIn(call, checked.pendingHandle, params)
  if ('error' in checked) return sendErrorResponse(call, checked.target, checked.error, UNSEEN)
  const { request, signIn } = checked
  const tokens = readSessionTokens(ctx.tenant, cookies)
  const authorization = await evaluateRequest(ctx, request, {}, tokens)
  const { next, signInState } = authorization
  // The page that asked for consent named the client.
  const hasSeenPage = { hasSeenPage: signInState?.consentedScopes != null }
  if (next.step === 'error')
    return sendErrorResponse(
      call,
      request,
      createStepError(next, request, authorization, tokens.length > 0),
      hasSeenPage,
    )
  const answer = issueCodeResponse(tenant, request, authorization)
  if (answer) return sendAuthorizationResponse(ctx, answer)
  const opened = await openInteraction(ctx, request, cookies, signIn)
  const path = buildSignInPath(ctx.tenant, opened.handle, request.clientId)
  return redirectTo(selectStartUrl(tenant, next, path), opened.cookies)
}

/** The hosted pages of the sign-in that a request_uri has started. */
const buildPendingPath = ({ ctx }: TenantCall, handle: string, params: URLSearchParams): string =>
  buildSignInPath(ctx.tenant, handle, params.get('client_id') ?? '')

/** Leads back to the sign-in that a request_uri has started, by the page where it would start now. */
async function resumeSignIn(call: TenantCall, handle: string, params: URLSearchParams): Promise<Response> {
  const { event, tenant, ctx } = call
  const path = buildPendingPath(call, handle, params)
  if (!tenant.loginUrl) return redirectTo(path)
  const cookies = event.req.headers.get('cookie')
  const presented = { handle, cookie: readInteractionKey(ctx.tenant, handle, cookies) }
  const interaction = await findInteraction(ctx.db, presented)
  if (!interaction) return redirectTo(path)
  const { request, progress, key } = interaction
  const { next } = await evaluateRequest(ctx, request, progress, readSessionTokens(ctx.tenant, cookies))
  // The first browser that presents the handle of a cross-site POST is bound.
  return redirectTo(selectStartUrl(tenant, next, path), [buildInteractionCookie(ctx.tenant, handle, key)])
}

/** The steps that a signed-in user is asked, or that need no page. */
const HOSTED_STEPS: readonly NextStep['step'][] = ['consent', 'terms', 'issue', 'error']

/**
 * The first page of the sign-in: the tenant's own page, if it has one, which continues to the hosted pages.
 */
function selectStartUrl({ loginUrl }: CachedTenant, next: NextStep, hosted: string): string {
  if (!loginUrl || HOSTED_STEPS.includes(next.step)) return hosted
  return addQueryParameters(loginUrl, { continue: `${env.baseUrl}${hosted}` })
}

/**
 * POST (OIDC Core, section 3.1.2.1). It comes from another site, so without cookies: the request is stored
 * and the browser redirected to a GET, which has them.
 */
async function handleAuthorizePost(call: TenantCall): Promise<Response> {
  const { event, ctx } = call
  const params = await readFormParams(event)
  const checked = await readRequest(call, params)
  if ('pendingHandle' in checked) return redirectTo(buildPendingPath(call, checked.pendingHandle, params))
  if ('error' in checked) return sendErrorResponse(call, checked.target, checked.error, UNSEEN)
  const handle = await createInteraction(ctx, checked.request, null, checked.signIn)
  return redirectTo(buildSignInPath(ctx.tenant, handle, checked.request.clientId))
}

async function handlePush(call: TenantCall): Promise<Response> {
  const request = await readTokenRequest(call, (clientId) =>
    loadDocumentClient(call.ctx, call.tenant, clientId),
  )
  const params = extractPushedParameters(request)
  await limitPendingRequest(request)
  await validateParameters(request.tenant, request.client, params, { isPushed: true })
  return createUncachedJson(await storePushedRequest(request.ctx.db, request.client.id, params), {
    status: 201,
  })
}

async function handleInitiate({ event, ctx, tenant, setClient }: TenantCall): Promise<Response> {
  const query = readQuery(event)
  setClient(query.get('client_id'))
  const { client, url } = await buildLoginInitiationUrl(ctx.tenant, requireSingleParams(query))
  return isUnreviewed(client) ? renderComponent(ctx, LeavePage, { tenant, client, url }) : redirectTo(url)
}
