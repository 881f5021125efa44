import type { H3 } from 'h3'
import { NotFound } from './errors.ts'
import { requestMeta } from './http.ts'
import { errorPage } from './oidc/answers.routes.ts'
import { errorResponse } from './rest/respond.ts'

/**
 * Answers every path that nothing else does: a page for browsers, the error body for programs. h3's own answer has
 * neither, nor a request id. Add it last.
 */
export function addNotFoundRoute(app: H3): void {
  app.all('/**', async (event) => {
    const { requestId } = requestMeta(event)
    const isBrowser = event.req.headers.get('accept')?.includes('text/html') ?? false
    const response = isBrowser
      ? await errorPage(new NotFound('page'), event, null, null)
      : errorResponse(requestId, new NotFound())
    response.headers.set('x-request-id', requestId)
    return response
  })
}
