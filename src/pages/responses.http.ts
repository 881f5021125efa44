import type { H3, H3Event } from 'h3'
import { type FunctionComponent, h, type VNode } from 'preact'
import { findClient } from '../access/client-cache.ts'
import { addRoute, type Handlers, type RenderError, type TenantCall } from '../access/endpoint.http.ts'
import type { RejectionEventType } from '../access/rejections.ts'
import type { CachedTenant } from '../access/tenant-cache.ts'
import type { AppError } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { OAuthError } from '../core/oauth-error.ts'
import { toAppError } from '../core/to-app-error.ts'
import { getLanguageSources } from '../http/language.http.ts'
import { Answer, addHeader, type Header } from '../http/node-response/answer.ts'
import { toErrorDescription, toLocation } from '../http/redirects.ts'
import { createJsonResponse, getRequestMeta } from '../http/request.http.ts'
import { localizeClient } from '../languages/localize-client.ts'
import type { MessageKey } from '../languages/messages.ts'
import { getRequestWords } from '../languages/request-language.ts'
import type { Words } from '../languages/translations.ts'
import type { Reader } from '../model/language-sources.ts'
import { listErrorFacts } from './error-facts.ts'
import { ErrorPage } from './parts/outcome.pages.tsx'
import { type RenderOptions, renderPage } from './render-page.pages.tsx'
import { buildInitiationUrl } from './restart-url.ts'

const UNCACHED_HEADERS: readonly Header[] = [
  ['cache-control', 'no-store'],
  ['pragma', 'no-cache'],
  ['x-content-type-options', 'nosniff'],
]

/** JSON that is not cached (RFC 6749, section 5.1). */
export const createUncachedJson = (
  body: object,
  init: { status?: number; headers?: Record<string, string> } = {},
): Response =>
  new Answer(JSON.stringify(body), init.status ?? 200, [
    ['content-type', 'application/json'],
    ...UNCACHED_HEADERS,
    ...Object.entries(init.headers ?? {}),
  ])

/** A JWT response (OIDC Core, section 5.3.2) that is not cached. */
export const createUncachedJwt = (token: string): Response =>
  new Answer(token, 200, [['content-type', 'application/jwt'], ...UNCACHED_HEADERS])

/** Public metadata, readable by any origin. */
export const createPublicJson = (body: object, maxAgeSeconds: number): Response =>
  createJsonResponse(body, {
    headers: { 'cache-control': `public, max-age=${maxAgeSeconds}`, 'access-control-allow-origin': '*' },
  })

/**
 * A 303 redirect: the browser continues with GET (RFC 9700, section 4.12). Throws PayloadTooLarge for a location that is
 * too long.
 */
export const redirectTo = (location: string, cookies: string[] = []): Response =>
  addCookies(
    new Answer(null, 303, [
      ['location', toLocation(location)],
      ['content-length', '0'],
      ['cache-control', 'no-store'],
      ['referrer-policy', 'no-referrer'],
    ]),
    cookies,
  )

/** Adds the header by which a page leads the browser on, without a script. */
export function addRefresh(response: Response, url: string): Response {
  addHeader(response, 'refresh', `0;url=${toLocation(url)}`)
  return response
}

export function addCookies(response: Response, cookies: string[]): Response {
  for (const cookie of cookies) addHeader(response, 'set-cookie', cookie)
  return response
}

function toLoggedError(thrown: unknown, event: H3Event): AppError {
  const error = toAppError(thrown)
  if (error.status >= 500)
    log.error({ requestId: getRequestMeta(event).requestId, err: error.cause ?? error }, error.message)
  return error
}

/** The OAuth error codes of other errors. */
const OAUTH_CODE_BY_STATUS: Record<number, string> = {
  401: 'invalid_token',
  429: 'temporarily_unavailable',
  500: 'server_error',
  503: 'temporarily_unavailable',
}

/**
 * Renders an error for a client (RFC 6749, section 5.2; RFC 6750, section 3.1). Logs errors from status 500.
 */
const renderOAuthError: RenderError = (thrown, event) => {
  if (thrown instanceof OAuthError)
    return createUncachedJson(
      { error: thrown.error, error_description: toErrorDescription(thrown.message) },
      { status: thrown.status, headers: thrown.headers },
    )
  const error = toLoggedError(thrown, event)
  return createUncachedJson(
    {
      error: OAUTH_CODE_BY_STATUS[error.status] ?? 'invalid_request',
      error_description: toErrorDescription(error.message),
    },
    { status: error.status, headers: error.headers },
  )
}

const TITLE_BY_STATUS: Record<number, Extract<MessageKey, `error.${number}`>> = {
  403: 'error.403',
  404: 'error.404',
  405: 'error.404',
  410: 'error.410',
  429: 'error.429',
  500: 'error.500',
  503: 'error.503',
}

export type PageComponent<Props> = FunctionComponent<Props>

/** Renders a page component to a response. */
export const renderComponent = <Props extends object>(
  reader: Reader,
  component: PageComponent<Props>,
  props: NoInfer<Props>,
  options: RenderOptions = {},
): Response => renderPage(h(component, props) as VNode, options, reader)

/**
 * The client of a request that ends here, with the URL where it starts a new sign-in; null when it has none. `isVouched`: only a
 * client that an administrator made, because anyone can make a link to the page.
 */
export async function findSignInStart(
  tenant: CachedTenant | null,
  clientId: string | null,
  { language }: Words,
  { isVouched }: { isVouched: boolean },
) {
  const found = tenant && clientId ? await findClient(tenant.tenantId, clientId) : null
  const client = isVouched && found?.registeredBy !== 'administrator' ? null : found
  const url = client && buildInitiationUrl(client.tenantId, client)
  return client && url ? { name: localizeClient(client, language).name, url } : null
}

/** Renders an error as a hosted page. Logs errors from status 500. */
export const renderErrorPage: RenderError = async (thrown, event, tenant, clientId) => {
  const { requestId } = getRequestMeta(event)
  const error = thrown instanceof OAuthError ? thrown : toLoggedError(thrown, event)
  const reader = { language: getLanguageSources(event) }
  const words = getRequestWords(reader)
  const title = words.text(TITLE_BY_STATUS[error.status] ?? 'error.other')
  const response = renderComponent(
    reader,
    ErrorPage,
    thrown instanceof OAuthError
      ? {
          tenant,
          title,
          // What a person can do; `detail` names the error for developers.
          message: words.text('error.client'),
          detail: error.message,
          facts: listErrorFacts(thrown),
          requestId,
          startAt: await findSignInStart(tenant, clientId, words, { isVouched: false }),
        }
      : {
          tenant,
          title,
          message: words.translate(error.message),
          requestId,
          // Of a sign-in that is not available; other errors may be those of the database.
          startAt:
            error.status === 410 ? await findSignInStart(tenant, clientId, words, { isVouched: true }) : null,
        },
    {
      status: error.status,
    },
  )
  for (const [name, value] of Object.entries(error.headers)) response.headers.set(name, value)
  return response
}

/** Adds a path whose errors are pages. */
export const addPageRoute = (app: H3, path: string, handlers: Handlers, rejectionType?: RejectionEventType) =>
  addRoute(app, path, handlers, renderErrorPage, rejectionType)

/** Adds a path of a protocol, whose errors are those of OAuth. */
export const addOAuthRoute = (
  app: H3,
  path: string,
  handlers: Handlers,
  rejectionType?: RejectionEventType,
) => addRoute(app, path, handlers, renderOAuthError, rejectionType)

/** The handler of a page that shows nothing but its tenant. */
export const createPlainPage =
  (component: PageComponent<{ tenant: CachedTenant }>) =>
  async ({ ctx, tenant }: TenantCall): Promise<Response> =>
    renderComponent(ctx, component, { tenant })
