import { H3, type H3Event } from 'h3'
import { toBoundChallenge } from '../access/dpop/dpop-binding.ts'
import { addResourceMetadata } from '../access/protected-resources.ts'
import { chargeCall, createBudgetError, toBudgetHeaders } from '../coordination/call-budget.ts'
import { MethodNotAllowed, NotFound } from '../core/errors.ts'
import { getRequestMeta } from '../http/request.http.ts'
import { handleRoute, type RestCall, resolveTenant } from './execute-route.ts'
import { createLinesResponse } from './ndjson-stream.ts'
import { createOpenApiDocuments } from './openapi.ts'
import { type RestResponse, toJsonResponse, toRestErrorResponse } from './responses.ts'
import type { RestRoute } from './route.ts'

const BASE_PATH = '/:tenant/api/v1'

/** The OpenAPI document is public: of the tenant, it has only the slug. */
const OPENAPI_ROUTE = { method: 'GET', path: '/openapi.json' } as const
const OPENAPI_HEADERS = { 'cache-control': 'private, max-age=300', 'access-control-allow-origin': '*' }

/**
 * Creates the response of `work`, or of the error that it throws. HEAD is GET without the body (RFC 9110,
 * section 9.3.2).
 */
async function respondTo(event: H3Event, work: (call: RestCall) => Promise<RestResponse>): Promise<Response> {
  const call: RestCall = { ...getRequestMeta(event), budget: null, binding: null }
  const { requestId } = call
  let result = await work(call).catch((error: unknown) => toRestErrorResponse(requestId, error))
  const budget = call.budget ?? chargeCall({ tenant: '', actor: { kind: 'anonymous' }, ip: call.ip })
  if (!call.budget && budget.isExhausted) result = toRestErrorResponse(requestId, createBudgetError(budget))
  const { 'www-authenticate': challenge, ...otherHeaders } = result.headers
  const headers = {
    ...toBudgetHeaders(budget),
    ...(call.binding?.nextNonce && { 'dpop-nonce': call.binding.nextNonce }),
    ...otherHeaders,
    ...(challenge && {
      'www-authenticate': addResourceMetadata(
        call.binding ? toBoundChallenge(call.binding, challenge) : challenge,
        event.context.params?.tenant ?? '',
        'api/v1',
      ),
    }),
  }
  const response = result.lines
    ? createLinesResponse(requestId, headers, result.lines)
    : toJsonResponse(requestId, { ...result, headers })
  if (event.req.method !== 'HEAD') return response
  result.lines?.release()
  return new Response(null, { status: response.status, headers: response.headers })
}

/** The methods of each path. */
function groupMethodsByPath(routes: readonly Pick<RestRoute, 'method' | 'path'>[]): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const { method, path } of routes)
    methods.set(path, [...(methods.get(path) ?? []), ...(method === 'GET' ? ['GET', 'HEAD'] : [method])])
  return methods
}

/**
 * Creates the app of `/{tenant}/api/v1`. Unknown paths are answered with 404, other methods with 405 and
 * Allow.
 */
export function createRestApp(routes: readonly RestRoute[]): H3 {
  // A malformed percent-encoding is answered with 404 and the error body of the API, instead of that of h3.
  const app = new H3({ allowMalformedURL: true })
  for (const route of routes) {
    const handleEvent = (event: H3Event) => respondTo(event, (call) => handleRoute(event, route, call))
    app.on(route.method, BASE_PATH + route.path, handleEvent)
    if (route.method === 'GET') app.on('HEAD', BASE_PATH + route.path, handleEvent)
  }
  const buildDocument = createOpenApiDocuments(routes)
  const serveOpenApi = (event: H3Event) =>
    respondTo(event, async () => {
      const tenant = await resolveTenant(event)
      return { status: 200, headers: OPENAPI_HEADERS, body: await buildDocument(tenant) }
    })
  app
    .get(BASE_PATH + OPENAPI_ROUTE.path, serveOpenApi)
    .on('HEAD', BASE_PATH + OPENAPI_ROUTE.path, serveOpenApi)
  for (const [path, methods] of groupMethodsByPath([...routes, OPENAPI_ROUTE]))
    app.all(BASE_PATH + path, (event) =>
      respondTo(event, async () => {
        await resolveTenant(event)
        throw new MethodNotAllowed(methods)
      }),
    )
  const rejectUnknownPath = (event: H3Event) =>
    respondTo(event, async () => {
      throw new NotFound()
    })
  app.all('/**', rejectUnknownPath)
  return app
}
