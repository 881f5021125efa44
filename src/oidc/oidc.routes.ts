import type { H3 } from 'h3'
import { findClient } from '../clients/client-cache.ts'
import { env } from '../env.ts'
import { readForm, readFormParams, targetOf } from '../http.ts'
import type { CachedTenant } from '../tenants/tenant-cache.ts'
import {
  addRoute,
  type Call,
  errorPage,
  oauthError,
  publicJson,
  seeOther,
  uncachedJson,
} from './answers.routes.ts'
import { checkRequest, errorLocation, standingOf, successLocation } from './authorization.ts'
import { authenticateClient } from './client-authentication.ts'
import { INTERACTION_COOKIE, readCookie, SESSION_COOKIE } from './cookies.ts'
import { discoveryOf } from './discovery.ts'
import { openInteraction } from './interactions.ts'
import { publicKeys } from './keys.ts'
import { addLogoutRoutes } from './logout.routes.ts'
import type { NextStep } from './next-step.ts'
import { isListedOrigin } from './origins.ts'
import { withParameters } from './redirect-uris.ts'
import { revokeToken } from './revocation.ts'
import { addSignInRoutes } from './signin.routes.ts'
import { bindBrowser } from './signin-visit.routes.ts'
import { answerTokenRequest } from './token.ts'
import { accessTokenOf, clientNamedBy, readUserinfo } from './userinfo.ts'

const DISCOVERY_MAX_AGE_SECONDS = 300

/** The OpenID Connect provider of every tenant: protocol endpoints and the hosted pages behind them. */
export function addOidcRoutes(app: H3): void {
  const discovery = async ({ tenant }: Call) =>
    publicJson(discoveryOf(tenant.tenantId), DISCOVERY_MAX_AGE_SECONDS)
  addRoute(app, '/:tenant/.well-known/openid-configuration', { GET: discovery, HEAD: discovery }, oauthError)
  // RFC 8414, section 3.1 puts the issuer's path behind the well-known one.
  addRoute(
    app,
    '/.well-known/oauth-authorization-server/:tenant',
    { GET: discovery, HEAD: discovery },
    oauthError,
  )
  addRoute(app, '/:tenant/.well-known/jwks.json', { GET: keys, HEAD: keys }, oauthError)
  addRoute(app, '/:tenant/oidc/authorize', { GET: authorize, POST: keepAuthorize }, errorPage)
  addRoute(app, '/:tenant/oidc/token', { POST: token, OPTIONS: preflight }, oauthError)
  addRoute(app, '/:tenant/oidc/userinfo', { GET: userinfo, POST: userinfo, OPTIONS: preflight }, oauthError)
  addRoute(app, '/:tenant/oidc/revoke', { POST: revoke, OPTIONS: preflight }, oauthError)
  addLogoutRoutes(app)
  addSignInRoutes(app)
}

const keys = async ({ tenant }: Call): Promise<Response> =>
  publicJson(await publicKeys(tenant.tenantId), DISCOVERY_MAX_AGE_SECONDS)

/** GET authorize: answers at once when nobody has to be asked, else goes on to the hosted pages. */
async function authorize({ event, tenant, ctx }: Call): Promise<Response> {
  const cookies = event.req.headers.get('cookie')
  const checked = await checkRequest(tenant, targetOf(event).query)
  if ('location' in checked) return seeOther(checked.location)
  const { request } = checked
  const standing = await standingOf(ctx, request, {}, readCookie(cookies, SESSION_COOKIE))
  const { next } = standing
  if (next.step === 'error') return seeOther(errorLocation(ctx.tenant, request, next.error, next.description))
  if (next.step === 'issue') {
    const location = await successLocation(ctx, request, standing, null)
    if (location) return seeOther(location)
    // The session ended, or the user was locked, between the two statements.
    if (request.prompt.includes('none'))
      return seeOther(errorLocation(ctx.tenant, request, 'login_required', 'The person must sign in.'))
  }
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
async function keepAuthorize({ event, tenant, ctx }: Call): Promise<Response> {
  const checked = await checkRequest(tenant, await readFormParams(event))
  if ('location' in checked) return seeOther(checked.location)
  const handle = await openInteraction(ctx.tenant, checked.request, null)
  return seeOther(hostedPath(ctx.tenant, handle))
}

/** A single-page application asks before it calls (Fetch, section 3.2). Whose it is shows with the call itself. */
async function preflight({ event, ctx, readableBy }: Call): Promise<Response> {
  const origin = event.req.headers.get('origin')
  if (!origin || !(await isListedOrigin(ctx.tenant, origin))) return new Response(null, { status: 204 })
  readableBy({ allowedOrigins: [origin] })
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'authorization, content-type',
      'access-control-max-age': '600',
    },
  })
}

/** A request by a client: its form, and who it is. A page of the client's may read the answer, whatever it will be. */
async function readClientCall({ event, ctx, readableBy }: Call) {
  const form = await readForm(event)
  const authorization = event.req.headers.get('authorization')
  if (form.client_id) readableBy(await findClient(ctx.tenant, form.client_id))
  const client = await authenticateClient(ctx, authorization, form)
  const actor = { kind: 'client', tenant: ctx.tenant, clientId: client.id } as const
  return { ctx: { ...ctx, actor }, client, form }
}

const token = async (call: Call): Promise<Response> =>
  uncachedJson(await answerTokenRequest({ ...(await readClientCall(call)), tenant: call.tenant }))

async function revoke(call: Call): Promise<Response> {
  const { ctx, client, form } = await readClientCall(call)
  await revokeToken(ctx, call.tenant, client, form)
  return uncachedJson({})
}

async function userinfo({ event, ctx, readableBy }: Call): Promise<Response> {
  const { headers, method } = event.req
  const isForm = method === 'POST' && headers.get('content-type') !== null
  const form = isForm ? await readForm(event) : {}
  const accessToken = accessTokenOf(ctx.tenant, headers.get('authorization'), form.access_token ?? null)
  if (headers.get('origin')) readableBy(await findClient(ctx.tenant, clientNamedBy(accessToken)))
  return uncachedJson(await readUserinfo(ctx.tenant, accessToken))
}
