import type { H3, H3Event } from 'h3'
import { type CachedTenant, findTenant } from '../access/tenant-cache.ts'
import { NotFound } from '../core/errors.ts'
import { getLanguageSources } from '../http/language.http.ts'
import { getRequestMeta } from '../http/request.http.ts'
import { addTenantLanguage } from '../languages/request-language.ts'
import { renderErrorPage } from '../pages/responses.http.ts'
import { toErrorResponse } from '../rest/responses.ts'

/** The tenant that the path names, whose brand the page has; null without one, or while it cannot be read. */
const findPathTenant = (event: H3Event): Promise<CachedTenant | null> =>
  findTenant(event.url.pathname.split('/', 2)[1] ?? '').catch(() => null)

/**
 * Answers every other path with 404: a page for browsers, the error body for programs, both with a request
 * id. It is the last route.
 */
export function addNotFoundRoute(app: H3): void {
  app.all('/**', answerNotFound)
}

async function answerNotFound(event: H3Event): Promise<Response> {
  const { requestId } = getRequestMeta(event)
  const isBrowser = event.req.headers.get('accept')?.includes('text/html') ?? false
  const tenant = isBrowser ? await findPathTenant(event) : null
  if (tenant) addTenantLanguage(getLanguageSources(event), tenant)
  const response = isBrowser
    ? await renderErrorPage(new NotFound('page'), event, tenant, null)
    : toErrorResponse(requestId, new NotFound())
  response.headers.set('x-request-id', requestId)
  return response
}
