import type { H3, H3Event } from 'h3'
import { type CachedTenant, findTenant } from '../access/tenant-cache.ts'
import { NotFound } from '../core/errors.ts'
import { getLanguageSources } from '../http/language.http.ts'
import { getRequestMeta } from '../http/request.http.ts'
import { addTenantLanguage } from '../languages/request-language.ts'
import { HomePage } from '../pages/parts/outcome.pages.tsx'
import { redirectTo, renderComponent, renderErrorPage } from '../pages/responses.http.ts'
import { toErrorResponse } from '../rest/responses.ts'

/** The tenant that the path names, whose brand the page has; null without one, or while it cannot be read. */
const findPathTenant = (event: H3Event): Promise<CachedTenant | null> =>
  findTenant(event.url.pathname.split('/', 2)[1] ?? '').catch(() => null)

/**
 * Answers every other path with 404: a page for browsers, the error body for programs, both with a request
 * id. A browser at `/` is shown where to sign in, and one at `/{tenant}` is led to the account. It is the last route.
 */
export function addNotFoundRoute(app: H3): void {
  app.all('/**', answerOtherPath)
}

async function answerOtherPath(event: H3Event): Promise<Response> {
  const { requestId } = getRequestMeta(event)
  const isBrowser = event.req.headers.get('accept')?.includes('text/html') ?? false
  const response = isBrowser ? await showOtherPath(event) : toErrorResponse(requestId, new NotFound())
  response.headers.set('x-request-id', requestId)
  return response
}

async function showOtherPath(event: H3Event): Promise<Response> {
  const { pathname } = event.url
  const language = getLanguageSources(event)
  if (pathname === '/') return renderComponent({ language }, HomePage, {}, { languageReturn: null })
  const tenant = await findPathTenant(event)
  if (tenant) addTenantLanguage(language, tenant)
  if (tenant && pathname.replace(/\/$/, '') === `/${tenant.tenantId}`)
    return redirectTo(`/${tenant.tenantId}/account`)
  return renderErrorPage(new NotFound('page'), event, tenant, null)
}
