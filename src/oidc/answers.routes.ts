import type { H3, H3Event } from 'h3'
import { type FunctionComponent, h, type VNode } from 'preact'
import { findClient } from '../clients/client-cache.ts'
import type { Ctx } from '../ctx.ts'
import { type AppError, describeError, MethodNotAllowed, NotFound, OAuthError } from '../errors.ts'
import { jsonAnswer, requestMeta, targetOf } from '../http.ts'
import { log } from '../log.ts'
import { type CachedTenant, findTenant } from '../tenants/tenant-cache.ts'
import { initiationOf } from './authorize/initiate-login.ts'
import { describable } from './authorize/redirect-uris.ts'
import { ErrorPage } from './pages/outcome.pages.tsx'
import { type RenderOptions, renderPage } from './pages/render-page.pages.tsx'
import { type RefusedAs, recordRefusal } from './refusals.ts'

/** A request to one tenant, by nobody known yet. */
export type Call = {
  event: H3Event
  tenant: CachedTenant
  ctx: Ctx
  /** Lets a page of this client's own origin read the answer, whatever it will be. */
  readableBy: (client: { allowedOrigins: readonly string[] } | null) => void
  /** Says whose request it is, for the log: the client that it names, and who that proved to be. */
  isOf: (clientId: string | null, proven?: Ctx) => void
  /** Tells the log why the request is refused by another answer than an error. */
  tellRefusal: (error: OAuthError) => Promise<void>
}
type Handle = (call: Call) => Promise<Response>
/** `clientId` is the client that the request named, who need not have sent it. */
type Render = (
  error: unknown,
  event: H3Event,
  tenant: CachedTenant | null,
  clientId: string | null,
) => Response | Promise<Response>
type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'

/**
 * Adds a path with its methods. Whatever a handler throws is rendered by `render`; other methods are 405. Of what is refused,
 * the log is told as `refusedAs`.
 */
export function addRoute(
  app: H3,
  path: string,
  handlers: Partial<Record<Method, Handle>>,
  render: Render,
  refusedAs?: RefusedAs,
): void {
  const endpoint = path.replace('/:tenant/oidc/', '').replace(/^\/:tenant\/signin.*/, 'signin')
  const allowed = Object.keys(handlers)
  app.all(path, async (event) => {
    const { method, headers } = event.req
    const origin = headers.get('origin')
    let isReadable = false
    let tenant: CachedTenant | null = null
    let response: Response
    let whose: { clientId: string | null; by?: Ctx } = { clientId: null }
    let tellRefusal = async (_: OAuthError) => {}
    try {
      if (targetOf(event).isCanonical) tenant = await findTenant(event.context.params?.tenant ?? '')
      if (!tenant) throw new NotFound('page')
      const handle = handlers[method as Method]
      if (!handle) throw new MethodNotAllowed(allowed)
      const ctx = ctxOf(event, tenant.tenantId)
      if (refusedAs)
        tellRefusal = (error) =>
          recordRefusal(whose.by ?? ctx, refusedAs, { endpoint, clientId: whose.clientId }, error)
      response = await handle({
        event,
        tenant,
        ctx,
        isOf: (clientId, by) => {
          whose = { clientId, by }
        },
        tellRefusal,
        readableBy: (client) => {
          isReadable = origin !== null && (client?.allowedOrigins.includes(origin) ?? false)
        },
      })
    } catch (error) {
      if (error instanceof OAuthError) await tellRefusal(error)
      response = await render(error, event, tenant, whose.clientId)
    }
    response.headers.set('x-request-id', requestMeta(event).requestId)
    if (isReadable) {
      response.headers.set('access-control-allow-origin', origin as string)
      response.headers.set('access-control-expose-headers', 'dpop-nonce, www-authenticate, x-request-id')
      response.headers.append('vary', 'origin')
    }
    return method === 'HEAD' ? new Response(null, response) : response
  })
}

const ctxOf = (event: H3Event, tenant: string): Ctx => ({
  tenant,
  actor: { kind: 'anonymous' },
  scopes: new Set(),
  ...requestMeta(event),
})

const UNCACHED = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** JSON that nobody may keep (RFC 6749, section 5.1). */
export const uncachedJson = (
  body: object,
  init: { status?: number; headers?: Record<string, string> } = {},
): Response =>
  jsonAnswer(body, {
    status: init.status ?? 200,
    headers: { ...UNCACHED, pragma: 'no-cache', ...init.headers },
  })

/** Metadata that any site may read. */
export const publicJson = (body: object, maxAgeSeconds: number): Response =>
  jsonAnswer(body, {
    headers: { 'cache-control': `public, max-age=${maxAgeSeconds}`, 'access-control-allow-origin': '*' },
  })

/** 303: the browser goes on with GET, whatever it came with (RFC 9700, section 4.12). */
export const seeOther = (location: string, cookies: string[] = []): Response => {
  const response = new Response(null, {
    status: 303,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  })
  return withCookies(response, cookies)
}

export function withCookies(response: Response, cookies: string[]): Response {
  for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  return response
}

function describeAndLog(thrown: unknown, event: H3Event): AppError {
  const error = describeError(thrown)
  if (error.status >= 500)
    log.error({ requestId: requestMeta(event).requestId, err: error.cause ?? error }, error.message)
  return error
}

/** What describes an error of our own to an OAuth client. */
const OAUTH_CODE_BY_STATUS: Record<number, string> = {
  401: 'invalid_token',
  429: 'temporarily_unavailable',
  500: 'server_error',
  503: 'temporarily_unavailable',
}

/** Renders an error for a client (RFC 6749, section 5.2; RFC 6750, section 3.1). */
export const oauthError: Render = (thrown, event) => {
  if (thrown instanceof OAuthError)
    return uncachedJson(
      { error: thrown.error, error_description: describable(thrown.message) },
      { status: thrown.status, headers: thrown.headers },
    )
  const error = describeAndLog(thrown, event)
  return uncachedJson(
    {
      error: OAUTH_CODE_BY_STATUS[error.status] ?? 'invalid_request',
      error_description: describable(error.message),
    },
    { status: error.status, headers: error.headers },
  )
}

const TITLE_BY_STATUS: Record<number, string> = {
  403: 'This form is out of date',
  404: 'There is no such page',
  405: 'There is no such page',
  410: 'This page has expired',
  429: 'Too many attempts',
  500: 'Something went wrong',
  503: 'Not available at the moment',
}

/** A hosted page with its props. */
export const pageOf = <Props extends object>(
  component: FunctionComponent<Props>,
  props: Props,
  options: RenderOptions = {},
): Response => renderPage(h(component, props) as VNode, options)

/** What a person can do about a client's mistake, which `detail` names for those who can mend it. */
const CLIENT_FAULT =
  'The application that sent you here asked for something that cannot be done. Go back to it and try again. If that does not help, tell the people who run it.'

/** Where the client of a faulty request starts a sign-in anew, for the person to go on; null when it told of no such place. */
async function startOf(tenant: CachedTenant | null, clientId: string | null) {
  const client = tenant && clientId ? await findClient(tenant.tenantId, clientId) : null
  const url = client && initiationOf(client.tenantId, client)
  return client && url ? { name: client.name, url } : null
}

/** Renders an error for a person. */
export const errorPage: Render = async (thrown, event, tenant, clientId) => {
  const { requestId } = requestMeta(event)
  const error = thrown instanceof OAuthError ? thrown : describeAndLog(thrown, event)
  const title = TITLE_BY_STATUS[error.status] ?? 'This request cannot be answered'
  const response = pageOf(
    ErrorPage,
    thrown instanceof OAuthError
      ? {
          tenant,
          title,
          message: CLIENT_FAULT,
          detail: error.message,
          requestId,
          startAt: await startOf(tenant, clientId),
        }
      : { tenant, title, message: error.message, requestId },
    {
      status: error.status,
    },
  )
  for (const [name, value] of Object.entries(error.headers)) response.headers.set(name, value)
  return response
}
