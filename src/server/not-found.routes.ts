import type { H3 } from 'h3'
import { NotFound } from '../core/errors.ts'
import { getRequestMeta } from '../http/request.http.ts'
import { renderErrorPage } from '../pages/responses.http.ts'
import { toErrorResponse } from '../rest/responses.ts'

/**
 * Answers every other path with 404: a page for browsers, the error body for programs, both with a request
 * id. It is the last route.
 */
export function addNotFoundRoute(app: H3): void {
  app.all('/**', async (event) => {
    const { requestId } = getRequestMeta(event)
    const isBrowser = event.req.headers.get('accept')?.includes('text/html') ?? false
    const response = isBrowser
      ? await renderErrorPage(new NotFound('page'), event, null, null)
      : toErrorResponse(requestId, new NotFound())
    response.headers.set('x-request-id', requestId)
    return response
  })
}
