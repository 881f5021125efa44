import { H3, type H3Event } from 'h3'
import { authenticateProvisioner, type Provisioner } from '../access/authenticate.ts'
import { findTenant } from '../access/tenant-cache.ts'
import { chargeCall, createBudgetError, toBudgetHeaders } from '../coordination/call-budget.ts'
import { AppError, MethodNotAllowed, NotFound } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { toAppError } from '../core/to-app-error.ts'
import { resumeTurn, takeTurn } from '../core/turns.ts'
import { Answer } from '../http/node-response/answer.ts'
import { getRequestMeta, isCanonicalPath, readQuery, toProvableRequest } from '../http/request.http.ts'
import { readJson } from '../http/request-body.http.ts'
import type { Json } from './attributes.ts'
import { findGroups, toGroupResources } from './group-list.ts'
import { createGroup, getGroup, patchGroup, readGroupVersion, removeGroup, replaceGroup } from './groups.ts'
import { patchUser } from './patch.ts'
import { isSelected, readScimQuery, type ScimQuery, selectAttributes, toListResponse } from './requests.ts'
import { buildServiceProviderConfig, listResourceTypes, listSchemas } from './schemas.ts'
import { toScimErrorBody } from './scim-errors.ts'
import { changeUser, replaceUser } from './user-changes.ts'
import { toGroupLocation, toUserLocation, toUserResource, type UserRow } from './user-resource.ts'
import { createUser, getUser, listUsers, removeUser } from './users.ts'

const BASE = '/:tenant/scim/v2'
/** A group of 20,000 members. Other bodies have the limit of the API. */
const GROUP_LIMIT_BYTES = 2_000_000

type Reply = { status: number; body?: Json; headers?: Record<string, string> }
type Request = { caller: Provisioner; id: string; query: ScimQuery; body: unknown; headers: Headers }
type Handle = (request: Request) => Promise<Reply>

/** The response has the version of the resource; it is left out where If-None-Match names it. */
function replyWith(
  resource: Json,
  { query, headers }: Request,
  version: string,
  status = 200,
  location?: string,
): Reply {
  const reply = { etag: version, ...(location && { location }) }
  const isKnown =
    status === 200 &&
    headers
      .get('if-none-match')
      ?.split(',')
      .some((tag) => tag.trim() === version)
  if (isKnown) return { status: 304, headers: reply }
  return { status, body: selectAttributes(resource, query), headers: reply }
}

function replyWithUser(request: Request, row: UserRow, status = 200): Reply {
  const resource = toUserResource(row)
  const { version } = resource.meta as { version: string }
  return replyWith(resource, request, version, status, toUserLocation(row.tenantId, row.id))
}

async function replyWithGroup(request: Request, id: string, status = 200): Promise<Reply> {
  const { caller, query } = request
  const { db } = caller.ctx
  const group = await getGroup(caller, id)
  const [resource = {}] = await toGroupResources(db, [group], isSelected(query, 'members'))
  const version = await readGroupVersion(db, group)
  const meta = { ...(resource.meta as Json), version }
  return replyWith({ ...resource, meta }, request, version, status, toGroupLocation(db.tenant, id))
}

async function answerUsers({ caller, query }: Request): Promise<Reply> {
  const { rows, total } = await listUsers(caller, query)
  const resources = rows.map((row) => selectAttributes(toUserResource(row), query))
  return { status: 200, body: toListResponse(resources, total, query) }
}

async function answerGroups({ caller, query }: Request): Promise<Reply> {
  const { startIndex, count, after } = query
  const groups = await findGroups(caller, query)
  const start = after === null ? startIndex - 1 : groups.filter(({ id }) => id <= after).length
  const page = groups.slice(start, start + count)
  const resources = await toGroupResources(caller.ctx.db, page, isSelected(query, 'members'))
  const selected = resources.map((resource) => selectAttributes(resource, query))
  return { status: 200, body: toListResponse(selected, groups.length, query) }
}

const getIfMatch = ({ headers }: Request): string | null => headers.get('if-match')

/** The body of a search request has the parameters of a list (RFC 7644, section 3.4.3). */
const search =
  (list: Handle): Handle =>
  (request) =>
    list({ ...request, query: readScimQuery((request.body ?? {}) as Json) })

const ROUTES: Record<string, Partial<Record<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', Handle>>> = {
  '/Users': {
    GET: answerUsers,
    POST: async (request) => replyWithUser(request, await createUser(request.caller, request.body), 201),
  },
  '/Users/.search': { POST: search(answerUsers) },
  '/Users/:id': {
    GET: async (request) => replyWithUser(request, await getUser(request.caller, request.id)),
    PUT: async (request) =>
      replyWithUser(
        request,
        await replaceUser(request.caller, request.id, request.body, getIfMatch(request)),
      ),
    PATCH: async (request) => {
      const patch = (user: Json) => patchUser(user, request.body)
      return replyWithUser(request, await changeUser(request.caller, request.id, patch, getIfMatch(request)))
    },
    DELETE: async (request) => {
      await removeUser(request.caller, request.id, getIfMatch(request))
      return { status: 204 }
    },
  },
  '/Groups': {
    GET: answerGroups,
    POST: async (request) =>
      replyWithGroup(request, (await createGroup(request.caller, request.body)).id, 201),
  },
  '/Groups/.search': { POST: search(answerGroups) },
  '/Groups/:id': {
    GET: (request) => replyWithGroup(request, request.id),
    PUT: async (request) => {
      await replaceGroup(request.caller, request.id, request.body, getIfMatch(request))
      return replyWithGroup(request, request.id)
    },
    // Without the members, unless attributes are asked for: Entra ID expects 204.
    PATCH: async (request) => {
      await patchGroup(request.caller, request.id, request.body, getIfMatch(request))
      return request.query.attributes ? replyWithGroup(request, request.id) : { status: 204 }
    },
    DELETE: async (request) => {
      await removeGroup(request.caller, request.id, getIfMatch(request))
      return { status: 204 }
    },
  },
  '/Me': Object.fromEntries(
    (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => [method, rejectMe]),
  ),
}

function rejectMe(): never {
  throw new AppError('NOT_FOUND', 501, '/Me is not implemented: a SCIM client does not act for a user.')
}

/** What is read without a key (RFC 7644, section 4). */
const DISCOVERY: Record<string, (tenant: string, id: string) => Json | undefined> = {
  '/ServiceProviderConfig': buildServiceProviderConfig,
  '/Schemas': (tenant) => toListResponse(listSchemas(tenant), listSchemas(tenant).length),
  '/Schemas/:id': (tenant, id) => listSchemas(tenant).find((schema) => schema.id === id),
  '/ResourceTypes': (tenant) => toListResponse(listResourceTypes(tenant), listResourceTypes(tenant).length),
  '/ResourceTypes/:id': (tenant, id) => listResourceTypes(tenant).find((type) => type.id === id),
}

const toResponse = ({ status, body, headers = {} }: Reply, requestId: string): Response =>
  new Answer(body === undefined ? null : JSON.stringify(body), status, [
    ...(body === undefined ? [] : ([['content-type', 'application/scim+json']] as [string, string][])),
    ['cache-control', 'no-store'],
    ['x-content-type-options', 'nosniff'],
    ['x-request-id', requestId],
    ...Object.entries(headers),
  ])

/** The tenant of a request. Ids of schemas have colons, which other paths have not. Throws NotFound. */
async function resolveTenant(event: H3Event): Promise<string> {
  const { tenant = '', id = '' } = event.context.params ?? {}
  const isCanonical = isCanonicalPath(event) || (id.startsWith('urn:') && !event.url.pathname.includes('//'))
  if (!isCanonical || !(await findTenant(tenant))) throw new NotFound()
  return tenant
}

async function respondTo(
  event: H3Event,
  work: (headers: Record<string, string>) => Promise<Reply>,
): Promise<Response> {
  const { requestId, ip } = getRequestMeta(event)
  const headers: Record<string, string> = {}
  const reply = await work(headers).catch((thrown: unknown): Reply => {
    // Calls without a valid key have the budget of their network.
    const ofNetwork =
      'ratelimit-limit' in headers ? null : chargeCall({ tenant: '', actor: { kind: 'anonymous' }, ip })
    const error = ofNetwork?.isExhausted ? createBudgetError(ofNetwork) : toAppError(thrown)
    if (error.status >= 500 && error.status !== 501)
      log.error({ requestId, err: error.cause ?? error }, error.message)
    return { status: error.status, body: toScimErrorBody(error) as Json, headers: error.headers }
  })
  return toResponse({ ...reply, headers: { ...headers, ...reply.headers } }, requestId)
}

async function answer(
  event: H3Event,
  handle: Handle,
  budgetHeaders: Record<string, string>,
  limitBytes: number | undefined,
): Promise<Reply> {
  const tenant = await resolveTenant(event)
  const { method, headers } = event.req
  const isRead = method === 'GET' || method === 'HEAD'
  const workload = { tenant, workload: isRead ? ('list' as const) : ('change' as const) }
  await takeTurn(workload)
  const caller = await authenticateProvisioner(
    { ...workload, ...getRequestMeta(event) },
    headers.get('authorization'),
    toProvableRequest(event),
  )
  const budget = chargeCall(caller.ctx)
  Object.assign(budgetHeaders, toBudgetHeaders(budget))
  if (budget.isExhausted) throw createBudgetError(budget)
  const query = readScimQuery(Object.fromEntries(readQuery(event)))
  const hasBody = !isRead && method !== 'DELETE'
  const body = hasBody
    ? await readJson(event, { ...(limitBytes && { limitBytes }), type: 'application/scim+json' })
    : undefined
  if (hasBody) await resumeTurn(workload)
  return handle({ caller, id: event.context.params?.id ?? '', query, body, headers })
}

/** Creates the app of `/{tenant}/scim/v2` (RFC 7643, RFC 7644), beside GraphQL and REST on the same services. */
export function createScimApp(): H3 {
  const app = new H3({ allowMalformedURL: true })
  for (const [path, build] of Object.entries(DISCOVERY))
    app.all(BASE + path, (event) =>
      respondTo(event, async () => {
        if (event.req.method !== 'GET' && event.req.method !== 'HEAD')
          throw new MethodNotAllowed(['GET', 'HEAD'])
        const body = build(await resolveTenant(event), event.context.params?.id ?? '')
        if (!body) throw new NotFound()
        return { status: 200, body }
      }),
    )
  for (const [path, handlers] of Object.entries(ROUTES))
    app.all(BASE + path, (event) =>
      respondTo(event, async (headers) => {
        const method = event.req.method === 'HEAD' ? 'GET' : event.req.method
        const handle = handlers[method as keyof typeof handlers]
        if (!handle) throw new MethodNotAllowed(Object.keys(handlers))
        return answer(
          event,
          handle,
          headers,
          path === '/Groups/:id' || path === '/Groups' ? GROUP_LIMIT_BYTES : undefined,
        )
      }),
    )
  app.all('/**', (event) =>
    respondTo(event, async () => {
      throw new NotFound()
    }),
  )
  return app
}
