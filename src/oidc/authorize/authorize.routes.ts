import type { H3 } from 'h3'
import { env } from '../../env.ts'
import { OAuthError } from '../../errors.ts'
import { readFormParams, targetOf } from '../../http.ts'
import { spend } from '../../limits.ts'
import type { CachedTenant } from '../../tenants/tenant-cache.ts'
import { errorPage, seeOther } from '../answers.routes.ts'
import { addRoute, type Call } from '../call.routes.ts'
import { INTERACTION_COOKIE, readCookie, SESSION_COOKIE } from '../cookies.ts'
import { sendRefusal } from '../refusals.routes.ts'
import { openInteraction } from '../signin/interactions.ts'
import { bindBrowser } from '../signin/signin-visit.routes.ts'
import { type CheckedRequest, checkRequest, grantAnswer, standingOf } from './authorization.ts'
import { stepError } from './explain-step.ts'
import type { NextStep } from './next-step.ts'
import { withParameters } from './redirect-uris.ts'
import { sendAnswer } from './response-modes.routes.ts'

/** Where sign-ins begin (RFC 6749, section 3.1; OIDC Core, section 3.1.2). */
export function addAuthorizeRoutes(app: H3): void {
  addRoute(
    app,
    '/:tenant/oidc/authorize',
    { GET: authorize, POST: keepAuthorize },
    errorPage,
    'authorize.refused',
  )
}

/** Checks a request, which from here on is known for its client's. */
function checkFor({ ctx, tenant, isOf }: Call, params: URLSearchParams): Promise<CheckedRequest> {
  isOf(params.get('client_id'))
  return checkRequest(ctx, tenant, params)
}

/** GET authorize: answers at once when nobody has to be asked, else goes on to the hosted pages. */
async function authorize(call: Call): Promise<Response> {
  const { event, tenant, ctx } = call
  const cookies = event.req.headers.get('cookie')
  const checked = await checkFor(call, targetOf(event).query)
  if ('error' in checked) return sendRefusal(call, checked.target, checked.error)
  const { request } = checked
  const sessionToken = readCookie(cookies, SESSION_COOKIE)
  const standing = await standingOf(ctx, request, {}, sessionToken)
  const { next } = standing
  if (next.step === 'error')
    return sendRefusal(call, request, stepError(next, request, standing, sessionToken !== null))
  if (next.step === 'issue') {
    const answer = await grantAnswer(ctx, request, standing, null)
    if (answer) return sendAnswer(answer)
    // The session ended, or the user was locked, between the two statements.
    if (request.prompt.includes('none'))
      return sendRefusal(call, request, new OAuthError('login_required', 'The person must sign in.'))
  }
  await spend('keepRequest', ctx.tenant, ctx.ip)
  const browser = bindBrowser(ctx.tenant, readCookie(cookies, INTERACTION_COOKIE))
  const handle = await openInteraction(ctx.tenant, request, browser.key)
  return seeOther(startOf(tenant, next, handle), [browser.cookie])
}

const hostedPath = (tenant: string, handle: string): string => `/${tenant}/signin/${handle}`

/** Where a person starts: the tenant's own page when it has one, which leads back to the hosted ones, else these. */
function startOf({ tenantId, loginUrl }: CachedTenant, next: NextStep, handle: string): string {
  const hosted = hostedPath(tenantId, handle)
  if (!loginUrl || next.step === 'consent') return hosted
  return withParameters(loginUrl, { continue: `${env.baseUrl}${hosted}` })
}

/** POST authorize (OIDC Core, section 3.1.2.1). From another site it comes without our cookies, so that it is kept and the
 *  browser sent on to a GET of ours, which has them. */
async function keepAuthorize(call: Call): Promise<Response> {
  const { event, ctx } = call
  const checked = await checkFor(call, await readFormParams(event))
  if ('error' in checked) return sendRefusal(call, checked.target, checked.error)
  await spend('keepRequest', ctx.tenant, ctx.ip)
  const handle = await openInteraction(ctx.tenant, checked.request, null)
  return seeOther(hostedPath(ctx.tenant, handle))
}
