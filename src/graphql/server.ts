import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { createYoga } from 'graphql-yoga'
import { budgetHeaders, chargeCall } from '../call-budget.ts'
import { env } from '../env.ts'
import { describeError, NotFound, Unavailable } from '../errors.ts'
import { type HeaderReader, metaOf } from '../http.ts'
import { findTenant } from '../tenants/tenant-cache.ts'
import type { GraphQLContext } from './context.ts'
import { httpRules } from './http-rules.ts'
import { toGraphQLError, toJson } from './masking.ts'
import { operationRules } from './operations.ts'
import { createContext, identifyCaller, urlOf } from './request-context.ts'
import { endAllStreams } from './revocation.ts'
import { buildSchema } from './schema.ts'
import { createSocketServer } from './socket.ts'

/** The GraphQL surface of all tenants: `/{tenant}/graphql` over HTTP, event streams and WebSockets. */
export type Graphql = {
  /** Answers a request that was routed here by its path; never rejects. */
  handle: (request: IncomingMessage, response: ServerResponse, tenant: string) => Promise<void>
  /** The same without a network. */
  fetch: (request: Request, tenant: string) => Promise<Response>
  /** Takes over the connection as a WebSocket, or ends it. */
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, tenant: string) => void
  /** Ends all streams and sockets (1001). */
  close: () => Promise<void>
}

const HOST = new URL(env.baseUrl).host
/** What Yoga sees of the path, which has led here already. */
const ENDPOINT = '/graphql'

/** A reader that does not take the last words of its stream is cut off. */
const LAST_WORDS_MS = 5000

function createServer(isProduction: boolean) {
  return createYoga<GraphQLContext>({
    schema: buildSchema(),
    graphqlEndpoint: ENDPOINT,
    // graphql.md, trap 5: the defaults reflect any origin, and let forms run mutations.
    cors: false,
    multipart: false,
    batching: false,
    // Ours: http-rules.ts.
    maxRequestBodySize: false,
    landingPage: false,
    healthCheckEndpoint: '/health/graphql-is-elsewhere',
    graphiql: isProduction ? false : { title: 'Vestibule' },
    // Whole in one page: Yoga's own takes its scripts from unpkg.com. 9 MB that production never loads.
    renderGraphiQL: async (options) =>
      (await import('@graphql-yoga/render-graphiql')).renderGraphiQL(options),
    logging: false,
    // Ours: one for all transports (masking.ts).
    maskedErrors: false,
    plugins: [operationRules(isProduction), httpRules],
  })
}

const headersOf = (request: IncomingMessage): HeaderReader => ({
  get: (name) => {
    const value = request.headers[name]
    return typeof value === 'string' ? value : null
  },
})

async function contextOf(
  { method, headers }: { method?: string; headers: HeaderReader },
  peer: string | null,
  tenant: string,
): Promise<GraphQLContext> {
  const meta = metaOf(headers, peer)
  const caller = await identifyCaller(tenant, meta, headers.get('authorization'), {
    proof: headers.get('dpop'),
    method: method ?? '',
    url: urlOf(tenant),
  })
  return createContext(caller, headers)
}

function failure(error: unknown, headers: HeaderReader, peer: string | null): Response {
  const { requestId, ip } = metaOf(headers, peer)
  const budget = chargeCall({ tenant: '', actor: { kind: 'anonymous' }, ip })
  const known = describeError(error)
  const body = { errors: [toJson(toGraphQLError(known, requestId))] }
  return Response.json(body, {
    status: known.status,
    headers: { ...budgetHeaders(budget), ...known.headers, 'x-request-id': requestId },
  })
}

async function requireTenant(tenant: string): Promise<void> {
  if (!(await findTenant(tenant))) throw new NotFound('tenant')
}

/** Puts the GraphQL surface together. The runtime must be open before the first request. */
export function createGraphql({ isProduction = env.isProduction } = {}): Graphql {
  const yoga = createServer(isProduction)
  const sockets = createSocketServer(yoga.getEnveloped)

  const handle = async (
    request: IncomingMessage,
    response: ServerResponse,
    tenant: string,
  ): Promise<void> => {
    const { method } = request
    const headers = headersOf(request)
    // Yoga makes a URL of them: a malformed one would be a 500 with a stack trace, and no Host has a say here.
    request.headers.host = HOST
    request.url = ENDPOINT + (request.url ?? '').slice(`/${tenant}${ENDPOINT}`.length)
    try {
      await requireTenant(tenant)
      const context = await contextOf({ method, headers }, request.socket.remoteAddress ?? null, tenant)
      context.stream.signal.addEventListener('abort', () => {
        setTimeout(() => response.destroy(), LAST_WORDS_MS).unref()
      })
      await yoga(request, response, context)
    } catch (error) {
      if (response.headersSent) return void response.destroy()
      const answer = failure(error, headers, request.socket.remoteAddress ?? null)
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
    }
  }

  return {
    handle,
    fetch: async (request, tenant) => {
      try {
        await requireTenant(tenant)
        return await yoga.fetch(request, await contextOf(request, null, tenant))
      } catch (error) {
        return failure(error, request.headers, null)
      }
    },
    upgrade: sockets.upgrade,
    close: async () => {
      // Sockets first: ended streams would tell their clients not to come back.
      await sockets.close()
      endAllStreams(new Unavailable('The server is stopping; resume from your position.'))
      await yoga.dispose()
    },
  }
}
