import type { H3 } from 'h3'
import { asPerson } from '../../ctx.ts'
import { Forbidden, OAuthError } from '../../errors.ts'
import { readForm, requestMeta, singleParams, targetOf } from '../../http.ts'
import { endSession, findBrowserSession } from '../../sessions/sessions.ts'
import { errorPage, pageOf, seeOther, withCookies } from '../answers.routes.ts'
import { initiationOf } from '../authorize/initiate-login.ts'
import { destinationsOf } from '../authorize/redirect-uris.ts'
import { addRoute, type Call } from '../call.routes.ts'
import { clearCookie, readCookie, SESSION_COOKIE } from '../cookies.ts'
import { LogoutConfirmPage, SignedOutPage, StillSignedInPage } from '../pages/outcome.pages.tsx'
import { csrfOf, isCsrf } from '../signin/interactions.ts'
import { type LogoutRequest, parseLogoutRequest } from './logout.ts'

/** The end of a session, asked for by a client (RP-Initiated Logout 1.0). */
export function addLogoutRoutes(app: H3): void {
  addRoute(app, '/:tenant/oidc/logout', { GET: logout, POST: postLogout }, errorPage, 'authorize.refused')
}

const sessionOf = ({ event, ctx }: Call) => {
  const token = readCookie(event.req.headers.get('cookie'), SESSION_COOKIE)
  return token ? findBrowserSession(ctx.tenant, token) : null
}

const requestOf = async ({ ctx, event, isOf }: Call): Promise<LogoutRequest> => {
  const { query } = targetOf(event)
  isOf(query.get('client_id'))
  return parseLogoutRequest(ctx.tenant, singleParams(query))
}

async function logout(call: Call): Promise<Response> {
  const session = await sessionOf(call)
  let request: LogoutRequest
  try {
    request = await requestOf(call)
  } catch (error) {
    if (!session || !(error instanceof OAuthError)) throw error
    await call.tellRefusal(error)
    return offer(call, session.id, error.message)
  }
  // Only who holds an ID token of this very session may end it unasked; any site could link here.
  if (session && session.id !== request.hintedSessionId) return confirm(call, request, session.id)
  return finish(call, request, session)
}

function confirm(
  { event, tenant, ctx }: Call,
  { client, returnTo }: LogoutRequest,
  sessionId: string,
): Response {
  const interaction = {
    action: `/${ctx.tenant}/oidc/logout?${targetOf(event).query}`,
    csrf: csrfOf('logout', ctx.tenant, sessionId),
  }
  return pageOf(
    LogoutConfirmPage,
    { tenant, client, interaction },
    { formActionOrigins: client && returnTo ? destinationsOf(client, returnTo) : [] },
  )
}

/** Who came to sign out must not be left signed in by a client's mistake: the form, without anything of the request. */
const offer = ({ event, tenant, ctx }: Call, sessionId: string, detail: string): Response =>
  pageOf(
    LogoutConfirmPage,
    {
      tenant,
      interaction: {
        action: `/${ctx.tenant}/oidc/logout`,
        csrf: csrfOf('logout', ctx.tenant, sessionId),
      },
      fault: { detail, requestId: requestMeta(event).requestId },
    },
    { status: 400 },
  )

/** Our own confirmation carries its token; everything else is a client's request, which from another site comes without
 *  the cookie, so that it goes on as a GET of ours. */
async function postLogout(call: Call): Promise<Response> {
  const form = await readForm(call.event)
  if (form.csrf === undefined) return seeOther(`/${call.ctx.tenant}/oidc/logout?${new URLSearchParams(form)}`)
  const request = await requestOf(call)
  const session = await sessionOf(call)
  if (session && !isCsrf(form.csrf, 'logout', call.ctx.tenant, session.id))
    throw new Forbidden('This page was out of date. Go back, reload it and try again.')
  if (session && form.step !== 'logout') return stay(call, request)
  return finish(call, request, session)
}

/** The person stays signed in. Going back to the client would tell it the opposite. */
const stay = ({ tenant }: Call, { client }: LogoutRequest): Response =>
  pageOf(StillSignedInPage, { tenant, client })

async function finish(
  { tenant, ctx }: Call,
  request: LogoutRequest,
  session: { id: string; userId: string } | null,
): Promise<Response> {
  if (session) {
    const by = { userId: session.userId, sessionId: session.id, clientId: request.client?.id }
    await endSession(asPerson(ctx, by), session.id, 'logout')
  }
  const cookies = [clearCookie(ctx.tenant, SESSION_COOKIE)]
  if (request.returnTo) return seeOther(request.returnTo, cookies)
  const { client } = request
  return withCookies(
    pageOf(SignedOutPage, { tenant, client, startAt: initiationOf(ctx.tenant, client) }),
    cookies,
  )
}
