import type { H3 } from 'h3'
import { findClient } from '../../access/client-cache.ts'
import { addRoute, type TenantCall } from '../../access/endpoint.http.ts'
import { toUserCtx } from '../../core/context.ts'
import { Forbidden } from '../../core/errors.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { getRequestMeta, readTarget } from '../../http/request.http.ts'
import { readForm, requireSingleParams } from '../../http/request-body.http.ts'
import {
  buildCookie,
  buildExpiredCookie,
  LOGOUT_COOKIE,
  readCookie,
  SESSION_COOKIE,
} from '../../pages/cookies.ts'
import { createCsrfToken, isCsrfToken } from '../../pages/csrf.ts'
import { LeavePage } from '../../pages/leave.pages.tsx'
import { LogoutConfirmPage, SignedOutPage, StillSignedInPage } from '../../pages/outcome.pages.tsx'
import { addCookies, redirectTo, renderComponent, renderErrorPage } from '../../pages/responses.http.ts'
import { buildInitiationUrl } from '../../pages/restart-url.ts'
import { type BrowserSession, endSession, findBrowserSession } from '../../sessions/sessions.ts'
import { listFormDestinations } from '../model/redirect-uris.ts'
import { isUnreviewed } from '../model/unreviewed-clients.ts'
import { type LogoutRequest, parseLogoutRequest } from './logout.ts'
import { UpstreamLogoutPage } from './upstream-logout.pages.tsx'
import { beginUpstreamLogout, openLogoutReturn, UPSTREAM_LOGOUT_SECONDS } from './upstream-logout.ts'

/** The end session endpoint (RP-Initiated Logout 1.0, section 2). */
export function addLogoutRoutes(app: H3): void {
  addRoute(
    app,
    '/:tenant/oidc/logout',
    { GET: handleLogout, HEAD: null, POST: handleLogoutPost },
    renderErrorPage,
    'authorize.refused',
  )
  addRoute(
    app,
    '/:tenant/oidc/logout/callback/:idp',
    { GET: handleUpstreamReturn },
    renderErrorPage,
    'authorize.refused',
  )
}

const findCallSession = ({ event, ctx }: TenantCall) => {
  const token = readCookie(event.req.headers.get('cookie'), SESSION_COOKIE)
  return token ? findBrowserSession(ctx.tenant, token) : null
}

const readLogoutRequest = async ({ ctx, event, setClient }: TenantCall): Promise<LogoutRequest> => {
  const { query } = readTarget(event)
  setClient(query.get('client_id'))
  return parseLogoutRequest(ctx.tenant, requireSingleParams(query))
}

/** Ends the session when the id_token_hint was issued in it; otherwise asks the user for confirmation. */
async function handleLogout(call: TenantCall): Promise<Response> {
  const session = await findCallSession(call)
  let request: LogoutRequest
  try {
    request = await readLogoutRequest(call)
  } catch (error) {
    if (!session || !(error instanceof OAuthError)) throw error
    await call.logRejection(error)
    return showSignOutOffer(call, session, error.message)
  }
  // Any site can link here: only an ID token of this session ends it without confirmation.
  if (session && session.id !== request.hintedSessionId) return showConfirmation(call, request, session)
  return finishLogout(call, request, { session, after: 'link' })
}

function showConfirmation(
  { event, tenant, ctx }: TenantCall,
  { client, returnTo }: LogoutRequest,
  session: BrowserSession,
): Response {
  const interaction = {
    action: `/${ctx.tenant}/oidc/logout?${readTarget(event).query}`,
    csrf: createCsrfToken('logout', ctx.tenant, session.id),
  }
  return renderComponent(
    LogoutConfirmPage,
    { tenant, client, interaction, person: session },
    { formActionOrigins: client && returnTo ? listFormDestinations(client, returnTo) : [] },
  )
}

/**
 * An invalid request must not leave the user signed in: offers the sign-out form without anything from the
 * request.
 */
const showSignOutOffer = (
  { event, tenant, ctx }: TenantCall,
  session: BrowserSession,
  detail: string,
): Response =>
  renderComponent(
    LogoutConfirmPage,
    {
      tenant,
      interaction: {
        action: `/${ctx.tenant}/oidc/logout`,
        csrf: createCsrfToken('logout', ctx.tenant, session.id),
      },
      person: session,
      error: { detail, requestId: getRequestMeta(event).requestId },
    },
    { status: 400 },
  )

/**
 * Handles the confirmation form, which carries a CSRF token. Any other POST is a client's request: it comes
 * from another site, so without the cookie, and is redirected to a GET, which has it.
 */
async function handleLogoutPost(call: TenantCall): Promise<Response> {
  const form = await readForm(call.event)
  if (form.csrf === undefined)
    return redirectTo(`/${call.ctx.tenant}/oidc/logout?${new URLSearchParams(form)}`)
  const request = await readLogoutRequest(call)
  const session = await findCallSession(call)
  if (session && !isCsrfToken(form.csrf, 'logout', call.ctx.tenant, session.id))
    throw new Forbidden('This page was out of date. Go back, reload it and try again.')
  if (session && form.step !== 'logout') return showStillSignedIn(call, request)
  return finishLogout(call, request, { session, after: 'form' })
}

/** The user stays signed in. Redirecting to the client would indicate the opposite. */
const showStillSignedIn = ({ tenant, ctx }: TenantCall, { client }: LogoutRequest): Response =>
  renderComponent(StillSignedInPage, { tenant, client, startAt: buildInitiationUrl(ctx.tenant, client) })

type Departure = {
  session: { id: string; userId: string } | null
  /** How the browser leaves: after a form by a page, because form-action applies to redirects. */
  after: 'form' | 'link'
}

async function finishLogout(
  call: TenantCall,
  request: LogoutRequest,
  { session, after }: Departure,
): Promise<Response> {
  const { tenant, ctx } = call
  const { client, returnTo } = request
  const cookies = [buildExpiredCookie(ctx.tenant, SESSION_COOKIE)]
  if (session) {
    const actor = { userId: session.userId, sessionId: session.id, clientId: client?.id }
    await endSession(toUserCtx(ctx, actor), session.id, 'logout')
    const target = { clientId: client?.id ?? null, returnTo }
    const upstream = await beginUpstreamLogout(ctx, tenant.idps, session.id, target)
    if (upstream) return leaveForProvider(call, client, { ...upstream, after, cookies })
  }
  // Without a session, the user has neither confirmed nor signed in at the client, as far as is known.
  if (returnTo && client && !session && isUnreviewed(client))
    return addCookies(renderComponent(LeavePage, { tenant, client, url: returnTo }), cookies)
  return showSignedOut(call, request, cookies)
}

/** Sends the browser to the logout at the provider that the session came from. */
function leaveForProvider(
  { tenant, ctx }: TenantCall,
  client: LogoutRequest['client'],
  {
    url,
    name,
    browserToken,
    after,
    cookies,
  }: { url: string; name: string; browserToken: string; after: Departure['after']; cookies: string[] },
): Response {
  const all = [...cookies, buildCookie(ctx.tenant, LOGOUT_COOKIE, browserToken, UPSTREAM_LOGOUT_SECONDS)]
  if (after === 'link') return redirectTo(url, all)
  const response = renderComponent(UpstreamLogoutPage, { tenant, client, name, url })
  response.headers.set('refresh', `0;url=${url}`)
  return addCookies(response, all)
}

/** The user comes back from the logout at a provider. A `state` of another browser leads nowhere. */
async function handleUpstreamReturn(call: TenantCall): Promise<Response> {
  const { event, ctx } = call
  const { state = '' } = requireSingleParams(event.url.searchParams)
  const browserToken = readCookie(event.req.headers.get('cookie'), LOGOUT_COOKIE)
  const target = openLogoutReturn(ctx.tenant, event.context.params?.idp ?? '', { state, browserToken })
  const client = target?.clientId ? await findClient(ctx.tenant, target.clientId) : null
  const returnTo = client ? (target?.returnTo ?? null) : null
  return showSignedOut(
    call,
    { client, returnTo },
    target ? [buildExpiredCookie(ctx.tenant, LOGOUT_COOKIE)] : [],
  )
}

const showSignedOut = (
  { tenant, ctx }: TenantCall,
  { client, returnTo }: Pick<LogoutRequest, 'client' | 'returnTo'>,
  cookies: string[],
): Response =>
  returnTo
    ? redirectTo(returnTo, cookies)
    : addCookies(
        renderComponent(SignedOutPage, { tenant, client, startAt: buildInitiationUrl(ctx.tenant, client) }),
        cookies,
      )
