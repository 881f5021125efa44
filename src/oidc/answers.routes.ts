import type { H3Event } from 'h3'
import { type FunctionComponent, h, type VNode } from 'preact'
import { FastResponse } from 'srvx'
import { findClient } from '../clients/client-cache.ts'
import { type AppError, describeError, OAuthError } from '../errors.ts'
import { jsonAnswer, requestMeta } from '../http.ts'
import { log } from '../log.ts'
import type { CachedTenant } from '../tenants/tenant-cache.ts'
import { initiationOf } from './authorize/initiate-login.ts'
import { describable } from './authorize/redirect-uris.ts'
import type { Render } from './call.routes.ts'
import { ErrorPage } from './pages/outcome.pages.tsx'
import { type RenderOptions, renderPage } from './pages/render-page.pages.tsx'

const UNCACHED = { 'cache-control': 'no-store', pragma: 'no-cache', 'x-content-type-options': 'nosniff' }

/** JSON that nobody may keep (RFC 6749, section 5.1). */
export const uncachedJson = (
  body: object,
  init: { status?: number; headers?: Record<string, string> } = {},
): Response =>
  jsonAnswer(body, {
    status: init.status ?? 200,
    headers: { ...UNCACHED, ...init.headers },
  })

/** A signed answer (OIDC Core, section 5.3.2), which nobody may keep either. */
export const uncachedJwt = (token: string): Response =>
  new FastResponse(token, { headers: { 'content-type': 'application/jwt', ...UNCACHED } })

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
