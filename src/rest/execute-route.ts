import type { ServerResponse } from 'node:http'
import type { H3Event } from 'h3'
import { authenticateToken } from '../access/authenticate.ts'
import type { TokenBinding } from '../access/dpop/dpop-binding.ts'
import { requireAnyScope, requireScope } from '../access/require-scope.ts'
import { findTenant } from '../access/tenant-cache.ts'
import { getAdministeredId } from '../context/administered-organization.ts'
import type { Ctx } from '../context/context.ts'
import { OpenAnswer } from '../coordination/answers.ts'
import { type CallBudget, chargeCall, createBudgetError } from '../coordination/call-budget.ts'
import { takeStoredAnswer } from '../coordination/person-budgets.ts'
import { NotAcceptable, NotFound } from '../core/errors.ts'
import { NDJSON } from '../core/json/ndjson.ts'
import { toAppError } from '../core/to-app-error.ts'
import { resumeTurn, takeTurn } from '../core/turns.ts'
import type { Workload } from '../core/workload.ts'
import { isTypeAccepted } from '../http/accepted-types.ts'
import {
  IDEMPOTENCY_KEY,
  isTransient,
  parseIdempotencyKey,
  REPLAYED_HEADER,
  runIdempotently,
} from '../http/idempotency.ts'
import {
  getRequestMeta,
  isCanonicalPath,
  type RequestMeta,
  readQuery,
  toProvableRequest,
} from '../http/request.http.ts'
import { readJson, readOptionalJson, readStream, setIdleTimeout } from '../http/request-body.http.ts'
import { getPageLinks } from '../schema/page.ts'
import { acquireStreamSlot, limitChecks, recheckChunks } from './ndjson-stream.ts'
import { parseQuery } from './query.ts'
import { type RestResponse, toRestErrorResponse } from './responses.ts'
import { getAttachedHeaders, type RestRoute } from './route.ts'

/**
 * Builds the Link header of a list (RFC 8288): the first page, and the next and previous page if they exist,
 * by cursor even when the request had a page number. Other parameters of the query stay unchanged.
 */
function buildLinkHeader(path: string, query: URLSearchParams, body: object): string {
  const { after, before } = getPageLinks(body)
  const buildLink = (rel: string, cursor: Record<string, string> = {}) => {
    const target = new URLSearchParams(query)
    for (const name of ['page', 'after', 'before']) target.delete(name)
    for (const [name, value] of Object.entries(cursor)) target.set(name, value)
    return `<${path}${target.size > 0 ? `?${target}` : ''}>; rel="${rel}"`
  }
  return [
    buildLink('first'),
    ...(before === null ? [] : [buildLink('prev', { before })]),
    ...(after === null ? [] : [buildLink('next', { after })]),
  ].join(', ')
}

type Params = Record<string, string>
const getPathParams = (event: H3Event): Params => event.context.params ?? {}

/** Returns the tenant of a request. Throws NotFound when it does not exist or the path is not canonical. */
export async function resolveTenant(event: H3Event): Promise<string> {
  const { tenant = '' } = getPathParams(event)
  if (!isCanonicalPath(event) || !(await findTenant(tenant))) throw new NotFound()
  return tenant
}

function readBody(event: H3Event, { body, isBodyOptional }: RestRoute): Promise<unknown> | undefined {
  if (!body) return undefined
  return isBodyOptional ? readOptionalJson(event) : readJson(event)
}

const toTenantRequest = (workload: Workload, event: H3Event) => ({ ...workload, ...getRequestMeta(event) })
const readAuthorizationHeader = (event: H3Event): string | null => event.req.headers.get('authorization')

/**
 * State of a request that its response needs even when it is rejected; members are null until they are known.
 */
export type RestCall = RequestMeta & { budget: CallBudget | null; binding: TokenBinding | null }

/**
 * Executes a request to a route: authenticates, authorizes, parses and calls the handler. Throws AppError.
 */
export async function handleRoute(event: H3Event, route: RestRoute, call: RestCall): Promise<RestResponse> {
  const tenant = await resolveTenant(event)
  return executeRoute(event, route, call, { tenant, workload: route.method === 'GET' ? 'list' : 'change' })
}

/** Counts the bytes of an answer until it is sent. Throws RateLimited. */
function countAnswer(event: H3Event, ctx: Ctx): void {
  const answer = new OpenAnswer(ctx)
  answer.requireRoom()
  answer.closeWith(event.runtime?.node?.res as ServerResponse | undefined)
  ctx.answer = answer
}

/** Rejects a request to read what the caller does not accept. Errors are JSON. Throws NotAcceptable. */
function requireAcceptable(event: H3Event, { method, ndjson }: RestRoute): void {
  const accept = event.req.headers.get('accept')
  if (method !== 'GET' || isTypeAccepted(accept, 'application/json')) return
  if (!ndjson) throw new NotAcceptable('application/json')
  if (!isTypeAccepted(accept, NDJSON)) throw new NotAcceptable(NDJSON)
}

/** Whether the caller may call a route about its own organization only. */
const dependsOnOrganization = (
  ctx: Ctx,
  { scope, otherScopes = [], requireInOrganization }: RestRoute,
): boolean =>
  requireInOrganization !== undefined &&
  getAdministeredId(ctx) !== null &&
  ![scope, ...otherScopes].some((one) => ctx.scopes.has(one))

async function executeRoute(
  event: H3Event,
  route: RestRoute,
  call: RestCall,
  workload: Workload,
): Promise<RestResponse> {
  await takeTurn(workload)
  const { tenant } = workload
  const { tenant: _, ...params } = getPathParams(event)
  const query = readQuery(event)
  const { ctx, binding } = await authenticateToken(
    toTenantRequest(workload, event),
    readAuthorizationHeader(event),
    toProvableRequest(event),
  )
  call.binding = binding
  call.budget = chargeCall(ctx)
  if (call.budget.isExhausted) throw createBudgetError(call.budget)
  const isInOrganization = dependsOnOrganization(ctx, route)
  if (!isInOrganization) requireAnyScope(ctx, [route.scope, ...(route.otherScopes ?? [])])
  requireAcceptable(event, route)
  if (!route.ndjson) countAnswer(event, ctx)
  const parsed = parseQuery(route, query)
  if (route.ndjson) {
    const recheck = limitChecks(async () => {
      const current = await authenticateToken(
        toTenantRequest(workload, event),
        readAuthorizationHeader(event),
        {
          provenJkt: binding.jkt,
        },
      )
      for (const scope of ctx.scopes) requireScope(current.ctx, scope)
    })
    const body =
      route.ndjson === 'both'
        ? recheckChunks(readStream(event, route.streamType ?? NDJSON), recheck)
        : undefined
    const lines = (await route.handle(ctx, { params, body, ...parsed })) as AsyncGenerator<object[]>
    const release = acquireStreamSlot(ctx)
    setIdleTimeout(event)
    return {
      status: 200,
      headers: {},
      body: {},
      lines: {
        lines,
        recheck,
        release,
        emitsErrorLine: route.ndjson === 'both',
      },
    }
  }
  const body = await readBody(event, route)
  if (route.body) await resumeTurn(workload)
  if (isInOrganization) await route.requireInOrganization?.(ctx, { params, body, ...parsed })
  const handle = async (): Promise<RestResponse> => {
    const result = await route.handle(ctx, { params, body, ...parsed })
    const location = route.location?.(result as Record<string, unknown>)
    return {
      status: route.status ?? 200,
      headers: {
        ...getAttachedHeaders(result),
        ...(location && { location: `/${tenant}/api/v1${location}` }),
        // The path is canonical.
        ...(route.paged && { link: buildLinkHeader(event.url.pathname, query, result) }),
      },
      body: result,
    }
  }
  const key = route.idempotent ? parseIdempotencyKey(event.req.headers.get(IDEMPOTENCY_KEY)) : null
  return key === null
    ? handle()
    : respondIdempotently(ctx, key, [route.method, event.url.pathname, body], handle)
}

/** Executes a create request under its key. Errors that a retry would repeat are stored too. */
async function respondIdempotently(
  ctx: Ctx,
  key: string,
  request: readonly unknown[],
  handle: () => Promise<RestResponse>,
): Promise<RestResponse> {
  const work = async () => {
    try {
      return { response: await handle(), isFinal: true }
    } catch (error) {
      if (isTransient(toAppError(error))) throw error
      return { response: toRestErrorResponse(ctx.requestId, error), isFinal: true }
    }
  }
  const { response, isReplayed } = await runIdempotently(ctx, key, request, work, takeStoredAnswer)
  return isReplayed ? { ...response, headers: { ...response.headers, ...REPLAYED_HEADER } } : response
}
