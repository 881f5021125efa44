import { H3, type H3Event } from 'h3'
import { eventRoutes } from '../audit/event-list.rest.ts'
import { clientRoutes } from '../clients/clients.rest.ts'
import { MethodNotAllowed, NotFound } from '../errors.ts'
import { readJson, requestMeta, targetOf } from '../http.ts'
import { credentialRoutes } from '../credentials/credentials.rest.ts'
import { authenticateBearer } from '../oidc/access-tokens.ts'
import { passcodeRoutes } from '../passcodes/passcodes.rest.ts'
import { requireScope } from '../scopes.ts'
import { sessionRoutes } from '../sessions/sessions.rest.ts'
import { findTenant } from '../tenants/tenant-cache.ts'
import { tenantRoutes } from '../tenants/tenants.rest.ts'
import { userRoutes } from '../users/users.rest.ts'
import { linksOf } from './links.ts'
import { parseQuery } from './query.ts'
import { errorResponse, jsonResponse } from './respond.ts'
import { headersOf, type RestRoute } from './route.ts'

/** Every route of the management surface. A new resource adds its table here. */
export const restRoutes: readonly RestRoute[] = [
  ...userRoutes,
  ...sessionRoutes,
  ...passcodeRoutes,
  ...clientRoutes,
  ...tenantRoutes,
  ...eventRoutes,
]

const BASE = '/:tenant/api/v1'

  ...credentialRoutes,
type Params = Record<string, string>
const paramsOf = (event: H3Event): Params => event.context.params ?? {}

const isBodiless = ({ req: { headers } }: H3Event): boolean =>
  !headers.has('content-type') &&
  !headers.has('transfer-encoding') &&
  Number(headers.get('content-length') ?? 0) === 0

async function answer(event: H3Event, route: RestRoute, requestId: string): Promise<Response> {
  const { tenant = '', ...params } = paramsOf(event)
  const { isCanonical, query } = targetOf(event)
  if (!isCanonical || !(await findTenant(tenant))) throw new NotFound()
  const { ctx } = await authenticateBearer(
    { tenant, ...requestMeta(event) },
    event.req.headers.get('authorization'),
  )
  requireScope(ctx, route.scope)
  const asked = parseQuery(route, query)
  const takesBody =
    route.method !== 'GET' &&
    route.method !== 'DELETE' &&
    route.hasBody !== false &&
    !(route.hasBody === 'optional' && isBodiless(event))
  const body = takesBody ? await readJson(event) : undefined
  const result = await route.handle(ctx, { params, body, ...asked })
  const location = route.location?.(result as Record<string, unknown>)
  return jsonResponse(requestId, result, {
    status: route.status ?? 200,
    headers: {
      ...headersOf(result),
      ...(location && { location: `/${tenant}/api/v1${location}` }),
      // The path has one spelling, which is this one.
      ...(route.paged && { link: linksOf(event.url.pathname, query, result) }),
    },
  })
}

/** Runs `work`; whatever it throws becomes the error body. HEAD is GET without the body (RFC 9110, section 9.3.2). */
async function respond(event: H3Event, work: (requestId: string) => Promise<Response>): Promise<Response> {
  const { requestId } = requestMeta(event)
  const response = await work(requestId).catch((error: unknown) => errorResponse(requestId, error))
  return event.req.method === 'HEAD'
    ? new Response(null, { status: response.status, headers: response.headers })
    : response
}

/** Paths by the methods that they answer. */
function methodsByPath(routes: readonly RestRoute[]): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const { method, path } of routes)
    methods.set(path, [...(methods.get(path) ?? []), ...(method === 'GET' ? ['GET', 'HEAD'] : [method])])
  return methods
}

/** The app that answers everything under `/{tenant}/api/v1`; unknown paths 404, unknown methods 405 with Allow. */
export function createRestApp(routes: readonly RestRoute[] = restRoutes): H3 {
  // A malformed percent sign is a path that is not there, with our error body instead of h3's.
  const app = new H3({ allowMalformedURL: true })
  for (const route of routes) {
    const handler = (event: H3Event) => respond(event, (requestId) => answer(event, route, requestId))
    app.on(route.method, BASE + route.path, handler)
    if (route.method === 'GET') app.on('HEAD', BASE + route.path, handler)
  }
  for (const [path, methods] of methodsByPath(routes))
    app.all(BASE + path, (event) =>
      respond(event, async () => {
        const isThere = targetOf(event).isCanonical && (await findTenant(paramsOf(event).tenant ?? ''))
        throw isThere ? new MethodNotAllowed(methods) : new NotFound()
      }),
    )
  const notFound = (event: H3Event) =>
    respond(event, async () => {
      throw new NotFound()
    })
  app.all('/**', notFound)
  return app
}
