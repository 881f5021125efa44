import { H3, type H3Event } from 'h3'
import { eventRoutes } from '../audit/event-list.rest.ts'
import { type Budget, budgetHeaders, budgetSpent, chargeCall } from '../call-budget.ts'
import { clientRoutes } from '../clients/clients.rest.ts'
import { consentRoutes } from '../consents/consents.rest.ts'
import { credentialRoutes } from '../credentials/credentials.rest.ts'
import type { Ctx } from '../ctx.ts'
import { describeError, MethodNotAllowed, NotFound } from '../errors.ts'
import {
  limitIdling,
  provableOf,
  type RequestMeta,
  readJson,
  readStream,
  requestMeta,
  targetOf,
} from '../http.ts'
import { answerOnce, IDEMPOTENCY_KEY, idempotencyKeyOf, isPassing, REPLAYED } from '../idempotency.ts'
import { idpUserRoutes } from '../idps/idp-users.rest.ts'
import { idpRoutes } from '../idps/idps.rest.ts'
import { NDJSON } from '../ndjson.ts'
import { type Binding, inSchemeOf } from '../oidc/client-auth/dpop-binding.ts'
import { keyRoutes } from '../oidc/keys/key-rotation.rest.ts'
import { authenticateToken } from '../oidc/token/access-tokens.ts'
import { passcodeRoutes } from '../passcodes/passcodes.rest.ts'
import { registrationTokenRoutes } from '../registration/registration-tokens.rest.ts'
import { requireScope } from '../scopes.ts'
import { sessionRoutes } from '../sessions/sessions.rest.ts'
import { findTenant } from '../tenants/tenant-cache.ts'
import { tenantRoutes } from '../tenants/tenants.rest.ts'
import { bulkRoutes } from '../users/bulk.rest.ts'
import { roleRoutes } from '../users/roles.rest.ts'
import { userRoutes } from '../users/users.rest.ts'
import { checkedChunks, linesResponse, onceASecond, takeStream } from './lines.ts'
import { linksOf } from './links.ts'
import { createDocuments } from './openapi.ts'
import { parseQuery } from './query.ts'
import { type Answer, toErrorAnswer, toResponse } from './respond.ts'
import { headersOf, type RestRoute } from './route.ts'

/** Every route of the management surface. A new resource adds its table here. */
export const restRoutes: readonly RestRoute[] = [
  ...userRoutes,
  ...bulkRoutes,
  ...roleRoutes,
  ...sessionRoutes,
  ...passcodeRoutes,
  ...credentialRoutes,
  ...idpRoutes,
  ...idpUserRoutes,
  ...consentRoutes,
  ...registrationTokenRoutes,
  ...clientRoutes,
  ...tenantRoutes,
  ...keyRoutes,
  ...eventRoutes,
]

const BASE = '/:tenant/api/v1'

/** Describes the surface to anybody: it has nothing of the tenant but its addresses. */
const OPENAPI = { method: 'GET', path: '/openapi.json' } as const
const OPENAPI_HEADERS = { 'cache-control': 'private, max-age=300', 'access-control-allow-origin': '*' }

type Params = Record<string, string>
const paramsOf = (event: H3Event): Params => event.context.params ?? {}

/** The tenant that a request is about. Throws NotFound when there is none, and for a second spelling of a path. */
async function tenantOf(event: H3Event): Promise<string> {
  const { tenant = '' } = paramsOf(event)
  if (!targetOf(event).isCanonical || !(await findTenant(tenant))) throw new NotFound()
  return tenant
}

const isBodiless = ({ req: { headers } }: H3Event): boolean =>
  !headers.has('content-type') &&
  !headers.has('transfer-encoding') &&
  Number(headers.get('content-length') ?? 0) === 0

const requestOf = (tenant: string, event: H3Event) => ({ tenant, ...requestMeta(event) })
const authorizationOf = (event: H3Event): string | null => event.req.headers.get('authorization')

/** What is known of a request before it is answered, however it ends. */
type Call = RequestMeta & { budget: Budget | null; binding: Binding | null }

async function answer(event: H3Event, route: RestRoute, call: Call): Promise<Answer> {
  const tenant = await tenantOf(event)
  const { tenant: _, ...params } = paramsOf(event)
  const { query } = targetOf(event)
  const { ctx, binding } = await authenticateToken(
    requestOf(tenant, event),
    authorizationOf(event),
    provableOf(event),
  )
  call.binding = binding
  call.budget = chargeCall(ctx)
  if (call.budget.isSpent) throw budgetSpent(call.budget)
  requireScope(ctx, route.scope)
  const asked = parseQuery(route, query)
  const takesBody = route.body !== undefined && !(route.isBodyOptional && isBodiless(event))
  if (route.ndjson) {
    const recheck = onceASecond(async () => {
      const now = await authenticateToken(requestOf(tenant, event), authorizationOf(event), {
        provenJkt: binding.jkt,
      })
      for (const scope of ctx.scopes) requireScope(now.ctx, scope)
    })
    const body = route.ndjson === 'both' ? checkedChunks(readStream(event, NDJSON), recheck) : undefined
    const lines = (await route.handle(ctx, { params, body, ...asked })) as AsyncGenerator<object[]>
    const release = takeStream(tenant)
    limitIdling(event)
    return {
      status: 200,
      headers: {},
      body: {},
      lines: { lines, recheck, release, tellsErrors: route.ndjson === 'both' },
    }
  }
  const body = takesBody ? await readJson(event) : undefined
  const handle = async (): Promise<Answer> => {
    const result = await route.handle(ctx, { params, body, ...asked })
    const location = route.location?.(result as Record<string, unknown>)
    return {
      status: route.status ?? 200,
      headers: {
        ...headersOf(result),
        ...(location && { location: `/${tenant}/api/v1${location}` }),
        // The path has one spelling, which is this one.
        ...(route.paged && { link: linksOf(event.url.pathname, query, result) }),
      },
      body: result,
    }
  }
  const key = route.idempotent ? idempotencyKeyOf(event.req.headers.get(IDEMPOTENCY_KEY)) : null
  return key === null ? handle() : answerUnderKey(ctx, key, [route.method, event.url.pathname, body], handle)
}

/** The answer to a creation; refusals that would be the same again are kept as well. */
async function answerUnderKey(
  ctx: Ctx,
  key: string,
  request: readonly unknown[],
  handle: () => Promise<Answer>,
): Promise<Answer> {
  const { answer, isReplayed } = await answerOnce(ctx, key, request, async () => {
    try {
      return { answer: await handle(), isFinal: true }
    } catch (error) {
      if (isPassing(describeError(error))) throw error
      return { answer: toErrorAnswer(ctx.requestId, error), isFinal: true }
    }
  })
  return isReplayed ? { ...answer, headers: { ...answer.headers, ...REPLAYED } } : answer
}

/** Runs `work`; whatever it throws becomes the error body. HEAD is GET without the body (RFC 9110, section 9.3.2). */
async function respond(event: H3Event, work: (call: Call) => Promise<Answer>): Promise<Response> {
  const call: Call = { ...requestMeta(event), budget: null, binding: null }
  const { requestId } = call
  let answer = await work(call).catch((error: unknown) => toErrorAnswer(requestId, error))
  const budget = call.budget ?? chargeCall({ tenant: '', actor: { kind: 'anonymous' }, ip: call.ip })
  if (!call.budget && budget.isSpent) answer = toErrorAnswer(requestId, budgetSpent(budget))
  const { 'www-authenticate': challenge, ...others } = answer.headers
  const headers = {
    ...budgetHeaders(budget),
    ...(call.binding?.nextNonce && { 'dpop-nonce': call.binding.nextNonce }),
    ...others,
    ...(challenge && { 'www-authenticate': call.binding ? inSchemeOf(call.binding, challenge) : challenge }),
  }
  const response = answer.lines
    ? linesResponse(requestId, headers, answer.lines)
    : toResponse(requestId, { ...answer, headers })
  if (event.req.method !== 'HEAD') return response
  answer.lines?.release()
  return new Response(null, { status: response.status, headers: response.headers })
}

/** Paths by the methods that they answer. */
function methodsByPath(routes: readonly Pick<RestRoute, 'method' | 'path'>[]): Map<string, string[]> {
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
    const handler = (event: H3Event) => respond(event, (call) => answer(event, route, call))
    app.on(route.method, BASE + route.path, handler)
    if (route.method === 'GET') app.on('HEAD', BASE + route.path, handler)
  }
  const documentOf = createDocuments(routes)
  const openapi = (event: H3Event) =>
    respond(event, async () => {
      const tenant = await tenantOf(event)
      return { status: 200, headers: OPENAPI_HEADERS, body: await documentOf(tenant) }
    })
  app.get(BASE + OPENAPI.path, openapi).on('HEAD', BASE + OPENAPI.path, openapi)
  for (const [path, methods] of methodsByPath([...routes, OPENAPI]))
    app.all(BASE + path, (event) =>
      respond(event, async () => {
        await tenantOf(event)
        throw new MethodNotAllowed(methods)
      }),
    )
  const notFound = (event: H3Event) =>
    respond(event, async () => {
      throw new NotFound()
    })
  app.all('/**', notFound)
  return app
}
