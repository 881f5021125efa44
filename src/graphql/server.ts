import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql'
import { createYoga } from 'graphql-yoga'
import { apiResourceOf } from '../access/protected-resources.ts'
import { findTenant } from '../access/tenant-cache.ts'
import { endAllStreams } from '../access/watch-token.ts'
import { OpenAnswer } from '../coordination/answers.ts'
import { chargeCall, toBudgetHeaders } from '../coordination/call-budget.ts'
import { env } from '../core/env.ts'
import { NotFound, Unavailable } from '../core/errors.ts'
import { findRecord } from '../core/requests/record.ts'
import { startSpan } from '../core/requests/spans.ts'
import { toAppError } from '../core/to-app-error.ts'
import { takeTurn } from '../core/turns.ts'
import { type HeaderReader, readRequestMeta } from '../http/request.http.ts'
import type { GraphQLContext } from './context.ts'
import { toErrorJson, toGraphQLError } from './error-masking.ts'
import { createHttpRules } from './http-rules.ts'
import { createOperationRules, type ExecutionSettings } from './limits/operation-rules.ts'
import type { FindConsoleDocument } from './limits/requested-document.ts'
import { createSocketServer } from './live/socket.ts'
import { findOwnRule } from './own-fields.ts'
import { createContext, identifyCaller } from './request-context.ts'

/** A field that takes longer has a span. */
const SLOW_MS = 10

type Resolver = GraphQLFieldResolver<unknown, unknown>

const traceSlow =
  (name: string, resolve: Resolver): Resolver =>
  (source, args, context, info) => {
    const result: unknown = resolve(source, args, context, info)
    if (!(result instanceof Promise) || !findRecord()?.span) return result
    const [startTime, start] = [Date.now(), performance.now()]
    return result.finally(() => {
      if (performance.now() - start > SLOW_MS) startSpan({ name, kind: 'internal', startTime })?.end()
    })
  }

/** Has slow fields shown as spans. Fields that are read from their object without waiting stay as they are. */
export function traceSlowFields(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields()))
      if (field.resolve && !findOwnRule(field.resolve))
        field.resolve = traceSlow(`${type.name}.${field.name}`, field.resolve)
  }
}

/** The GraphQL endpoints of all tenants: `/{tenant}/graphql` over HTTP, event streams and WebSockets. */
export type GraphqlHandler = {
  /** Answers a request to the endpoint of `tenant`; never rejects. */
  handle: (request: IncomingMessage, response: ServerResponse, tenant: string) => Promise<void>
  /** Answers a Request object, for tests without a network. */
  fetch: (request: Request, tenant: string) => Promise<Response>
  /** Upgrades a connection to a WebSocket, or rejects it. */
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, tenant: string) => void
  /** Closes all sockets (1001) and ends all streams. */
  close: () => Promise<void>
}

const BASE_HOST = new URL(env.baseUrl).host
/** The path that Yoga sees: the tenant is already resolved. */
const ENDPOINT = '/graphql'

/** What GraphiQL contains at first. */
const FIRST_QUERY = `# The management API of this tenant. It needs an access token, which "Authentication" in docs/api.md gets.
# Put it into the headers below: {"authorization": "Bearer ..."}

query FirstUsers {
  users(first: 10) {
    totalSize
    nodes {
      id
      name
      email
      lastSeenAt
    }
  }
}
`

type HandlerSettings = ExecutionSettings & { findConsoleDocument: FindConsoleDocument }

function createYogaServer(schema: GraphQLSchema, settings: HandlerSettings) {
  const { isProduction, findConsoleDocument } = settings
  return createYoga<GraphQLContext>({
    schema,
    graphqlEndpoint: ENDPOINT,
    // The defaults would reflect any origin, and let HTML forms execute mutations.
    cors: false,
    multipart: false,
    batching: false,
    // It keeps 1,024 texts of any size, refusals included, for all callers; known-documents.ts has ours.
    parserAndValidationCache: false,
    // Limited by http-rules.ts.
    maxRequestBodySize: false,
    landingPage: false,
    healthCheckEndpoint: '/health/graphql-is-elsewhere',
    graphiql: isProduction ? false : { title: 'GraphiQL', defaultQuery: FIRST_QUERY },
    // A self-contained page: Yoga's own loads scripts from unpkg.com. 9 MB, which production does not load.
    renderGraphiQL: async (options) =>
      (await import('@graphql-yoga/render-graphiql')).renderGraphiQL(options),
    logging: false,
    // error-masking.ts masks the errors of all transports.
    maskedErrors: false,
    plugins: [createOperationRules(settings), createHttpRules(findConsoleDocument)],
  })
}

const toHeaderReader = (request: IncomingMessage): HeaderReader => ({
  get: (name) => {
    const value = request.headers[name]
    return typeof value === 'string' ? value : null
  },
})

async function createRequestContext(
  { method, headers }: { method?: string; headers: HeaderReader },
  peer: string | null,
  tenant: string,
): Promise<GraphQLContext> {
  const meta = readRequestMeta(headers, peer)
  const caller = await identifyCaller(tenant, meta, headers.get('authorization'), {
    proof: headers.get('dpop'),
    method: method ?? '',
    url: apiResourceOf(tenant, 'graphql'),
  })
  return createContext(caller, headers)
}

function createErrorResponse(error: unknown, headers: HeaderReader, peer: string | null): Response {
  const { requestId, ip } = readRequestMeta(headers, peer)
  const budget = chargeCall({ tenant: '', actor: { kind: 'anonymous' }, ip })
  const appError = toAppError(error)
  const body = { errors: [toErrorJson(toGraphQLError(appError, requestId))] }
  return Response.json(body, {
    status: appError.status,
    headers: { ...toBudgetHeaders(budget), ...appError.headers, 'x-request-id': requestId },
  })
}

async function requireTenant(tenant: string): Promise<void> {
  if (!(await findTenant(tenant))) throw new NotFound('tenant')
}

/** Creates the handler of the GraphQL endpoints. The runtime must be open before the first request. */
export function createGraphqlHandler(
  schema: GraphQLSchema,
  {
    isProduction = env.isProduction,
    compilation = 'repeated',
    findConsoleDocument = () => undefined,
  }: Partial<HandlerSettings> = {},
): GraphqlHandler {
  if (env.tracing) traceSlowFields(schema)
  const yoga = createYogaServer(schema, { isProduction, compilation, findConsoleDocument })
  const sockets = createSocketServer({ getEnveloped: yoga.getEnveloped, findConsoleDocument })

  const handleRequest = async (
    request: IncomingMessage,
    response: ServerResponse,
    tenant: string,
  ): Promise<void> => {
    const { method } = request
    const headers = toHeaderReader(request)
    // Yoga builds a URL from them: a malformed one would cause a 500 with a stack trace, and the Host header
    // is not trusted.
    request.headers.host = BASE_HOST
    request.url = ENDPOINT + (request.url ?? '').slice(`/${tenant}${ENDPOINT}`.length)
    try {
      await takeTurn({ tenant, workload: 'change' })
      await requireTenant(tenant)
      const context = await createRequestContext(
        { method, headers },
        request.socket.remoteAddress ?? null,
        tenant,
      )
      const answer = new OpenAnswer(context.ctx)
      answer.closeWith(response)
      context.ctx.answer = answer
      await yoga(request, response, context)
    } catch (error) {
      if (response.headersSent) return void response.destroy()
      const answer = createErrorResponse(error, headers, request.socket.remoteAddress ?? null)
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
    }
  }

  return {
    handle: handleRequest,
    fetch: async (request, tenant) => {
      try {
        await requireTenant(tenant)
        return await yoga.fetch(request, await createRequestContext(request, null, tenant))
      } catch (error) {
        return createErrorResponse(error, request.headers, null)
      }
    },
    upgrade: sockets.upgrade,
    close: async () => {
      // Sockets first: after a completed stream, clients do not reconnect.
      await sockets.close()
      endAllStreams(new Unavailable('The server is stopping; resume from your position.'))
      await yoga.dispose()
    },
  }
}
