import type { ServerResponse } from 'node:http'
import type { H3, H3Event } from 'h3'
import { authenticateToken } from '../access/authenticate.ts'
import type { Handlers, TenantCall } from '../access/endpoint.http.ts'
import { chargeCall, createBudgetError, toBudgetHeaders } from '../coordination/call-budget.ts'
import { Forbidden, InvalidInput } from '../core/errors.ts'
import { OAuthError } from '../core/oauth-error.ts'
import type { ClientScope } from '../core/scopes.ts'
import { getRequestMeta, readQuery, toProvableRequest } from '../http/request.http.ts'
import { readJson } from '../http/request-body.http.ts'
import { addOAuthRoute, createPublicJson, createUncachedJson } from '../pages/responses.http.ts'
import { pollStream } from './poll.ts'
import { addSignalReceiverRoutes } from './receiver/receiver.routes.ts'
import { buildTransmitterMetadata } from './stream-configuration.ts'
import {
  changeOwnStream,
  changeStatus,
  createOwnStream,
  deleteOwnStream,
  type Receiver,
  readOwnStreams,
  readStatus,
  readStreamId,
  requestVerification,
} from './stream-management.ts'
import { changeSubject } from './subjects.ts'

const METADATA_MAX_AGE_SECONDS = 300

type Request = { receiver: Receiver; event: H3Event; query: Record<string, string>; body: unknown }
type Reply = { status?: number; body?: object }

/**
 * Authenticates a client by an access token of its own with one of the scopes (CAEP Interoperability Profile 1.0, section
 * 2.7.3). Throws Unauthenticated, Forbidden and RateLimited.
 */
async function authenticateReceiver(
  { event, tenant }: TenantCall,
  scopes: readonly ClientScope[],
  headers: Record<string, string>,
): Promise<Receiver> {
  const target = { tenant: tenant.tenantId, ...getRequestMeta(event), workload: 'change' as const }
  const { ctx } = await authenticateToken(
    target,
    event.req.headers.get('authorization'),
    toProvableRequest(event),
  )
  const budget = chargeCall(ctx)
  Object.assign(headers, toBudgetHeaders(budget))
  if (budget.isExhausted) throw createBudgetError(budget)
  const { actor } = ctx
  if (actor.kind !== 'client' || actor.tenant !== ctx.tenant)
    throw new Forbidden('Streams are managed by a client of the tenant, with an access token of its own.')
  if (!scopes.some((scope) => actor.clientScopes?.has(scope)))
    throw new Forbidden(`The access token lacks the scope ${scopes.at(-1)}.`, scopes.at(-1))
  return { ctx, clientId: actor.clientId }
}

/** An error of the body names each member. */
const toProtocolError = (error: unknown): unknown =>
  error instanceof InvalidInput
    ? new OAuthError(
        'invalid_request',
        error.fields.map(({ field, description }) => `${field} ${description}`.trim()).join('; ') ||
          error.message,
        { redirect: false, cause: error },
      )
    : error

const handle =
  (scopes: readonly ClientScope[], answer: (request: Request) => Promise<Reply>) =>
  async (call: TenantCall): Promise<Response> => {
    const { event } = call
    const headers: Record<string, string> = {}
    try {
      const receiver = await authenticateReceiver(call, scopes, headers)
      const hasBody =
        event.req.method !== 'GET' && event.req.method !== 'HEAD' && event.req.method !== 'DELETE'
      const body = hasBody ? await readJson(event) : undefined
      const query = Object.fromEntries(readQuery(event))
      const reply = await answer({ receiver, event, query, body })
      if (reply.body) return createUncachedJson(reply.body, { status: reply.status ?? 200, headers })
      return new Response(null, {
        status: reply.status ?? 204,
        headers: { ...headers, 'cache-control': 'no-store' },
      })
    } catch (error) {
      throw toProtocolError(error)
    }
  }

const READ: readonly ClientScope[] = ['ssf.manage', 'ssf.read']
const MANAGE: readonly ClientScope[] = ['ssf.manage']

/** Whether nobody waits for the answer any more, or the program is to stop. */
function observeEnd({ runtime }: H3Event, isStopping: () => boolean): () => boolean {
  const response = runtime?.node?.res as ServerResponse | undefined
  return () => isStopping() || response?.closed === true || response?.destroyed === true
}

/** The endpoints of a transmitter (SSF 1.0, section 8.1), by their path. `isStopping` ends polls that wait. */
const buildEndpoints = (isStopping: () => boolean): Record<string, Handlers> => ({
  '/ssf/streams': {
    POST: handle(MANAGE, async ({ receiver, body }) => ({
      status: 201,
      body: await createOwnStream(receiver, body),
    })),
    GET: handle(READ, async ({ receiver, query }) => ({
      body: await readOwnStreams(receiver, query.stream_id ?? null),
    })),
    PATCH: handle(MANAGE, async ({ receiver, body }) => ({
      body: await changeOwnStream(receiver, body, { isWhole: false }),
    })),
    PUT: handle(MANAGE, async ({ receiver, body }) => ({
      body: await changeOwnStream(receiver, body, { isWhole: true }),
    })),
    DELETE: handle(MANAGE, async ({ receiver, query }) => {
      await deleteOwnStream(receiver, readStreamId(query))
      return {}
    }),
  },
  '/ssf/status': {
    GET: handle(READ, async ({ receiver, query }) => ({
      body: await readStatus(receiver, readStreamId(query)),
    })),
    POST: handle(MANAGE, async ({ receiver, body }) => ({ body: await changeStatus(receiver, body) })),
  },
  '/ssf/subjects/add': {
    POST: handle(MANAGE, async ({ receiver, body }) => {
      await changeSubject(receiver, body, { included: true })
      return { status: 200, body: {} }
    }),
  },
  '/ssf/subjects/remove': {
    POST: handle(MANAGE, async ({ receiver, body }) => {
      await changeSubject(receiver, body, { included: false })
      return {}
    }),
  },
  '/ssf/verify': {
    POST: handle(MANAGE, async ({ receiver, body }) => {
      await requestVerification(receiver, body)
      return {}
    }),
  },
  '/ssf/streams/:stream/poll': {
    POST: handle(READ, async ({ receiver, event, body }) => ({
      body: await pollStream(receiver, event.context.params?.stream ?? '', {
        body,
        isEnded: observeEnd(event, isStopping),
      }),
    })),
  },
})

const showMetadata = async ({ tenant }: TenantCall): Promise<Response> =>
  createPublicJson(buildTransmitterMetadata(tenant.tenantId), METADATA_MAX_AGE_SECONDS)

/** The transmitter and the receiver of shared signals of every tenant. */
export function addSignalRoutes(app: H3, isStopping: () => boolean): void {
  // SSF 1.0, section 7.2: the path of the issuer follows the well-known path. Receivers of RISC append it to the issuer.
  addOAuthRoute(app, '/.well-known/ssf-configuration/:tenant', { GET: showMetadata })
  addOAuthRoute(app, '/:tenant/.well-known/ssf-configuration', { GET: showMetadata })
  addSignalReceiverRoutes(app)
  for (const [path, handlers] of Object.entries(buildEndpoints(isStopping)))
    addOAuthRoute(app, `/:tenant${path}`, handlers)
}
