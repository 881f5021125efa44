import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ExecutionArgs, GraphQLError } from 'graphql'
import { CloseCode, type Context, handleProtocols, type SubscribePayload } from 'graphql-ws'
import { useServer } from 'graphql-ws/use/ws'
import type { YogaServerInstance } from 'graphql-yoga'
import { WebSocket, WebSocketServer } from 'ws'
import { findClient } from '../clients/client-cache.ts'
import type { Ctx } from '../ctx.ts'
import { env } from '../env.ts'
import { AppError, Unauthenticated } from '../errors.ts'
import { JSON_LIMIT_BYTES, metaOf } from '../http.ts'
import { log } from '../log.ts'
import type { KeyProof } from '../oidc/client-auth/dpop-binding.ts'
import { isListedOrigin } from '../oidc/origins.ts'
import { findTenant } from '../tenants/tenant-cache.ts'
import type { GraphQLContext } from './context.ts'
import { maskErrors, toGraphQLError, toJson } from './masking.ts'
import { createContext, identifyCaller, urlOf } from './request-context.ts'

const INIT_WAIT_MS = 3000
const PING_MS = 12_000
/** Somebody who reads this slowly gets a new socket, from where they stand, rather than our memory. */
const MAX_BUFFERED_BYTES = 1_000_000
const BUFFER_CHECK_MS = 1000
const MAX_OPERATIONS = 100
/** Ours, beside those of graphql-ws: clients come back with a new token after 4403, and give up after 4401. */
const TOO_SLOW = 4413
/** setTimeout counts in 31 bits. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

type Extra = {
  socket: WebSocket
  request: IncomingMessage
  /** The key that was proven as the connection began: a proof is for one use. */
  provenJkt?: string | null
}
type Connection = Context<Record<string, unknown>, Extra>
type Enveloped = ReturnType<YogaServerInstance<object, GraphQLContext>['getEnveloped']>

const tenants = new WeakMap<IncomingMessage, string>()

const isOwnOrigin = (origin: string | undefined): boolean => !origin || origin === env.baseUrl

/** Browsers say where a page comes from. Whose page it is shows with the token; here, that anybody's is. */
const mayOpen = async ({ headers: { origin } }: IncomingMessage, tenant: string): Promise<boolean> =>
  isOwnOrigin(origin) || isListedOrigin(tenant, origin as string)

/** A page of another origin may use its own client's tokens only, as with CORS. */
async function mayUse({ headers: { origin } }: IncomingMessage, { actor }: Ctx): Promise<boolean> {
  if (isOwnOrigin(origin)) return true
  if ((actor.kind !== 'user' && actor.kind !== 'client') || !actor.clientId) return false
  const client = await findClient(actor.tenant, actor.clientId)
  return client?.allowedOrigins.includes(origin as string) ?? false
}

/** HTTP's headers are written either way, and so are connection parameters. */
const paramOf = ({ connectionParams }: Connection, header: 'authorization' | 'dpop'): string | null => {
  const given = Object.entries(connectionParams ?? {}).find(([name]) => name.toLowerCase() === header)
  return typeof given?.[1] === 'string' ? given[1] : null
}

/** Who speaks on the connection, checked anew for each operation: sockets outlive revocations. */
async function callerOf(connection: Connection, by: (tenant: string) => KeyProof) {
  const { request } = connection.extra
  const headers = new Headers()
  for (const name of ['x-forwarded-for', 'user-agent']) {
    const value = request.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  const meta = metaOf(headers, request.socket.remoteAddress ?? null)
  const tenant = tenants.get(request) ?? ''
  return identifyCaller(tenant, meta, paramOf(connection, 'authorization'), by(tenant))
}

const isBadToken = (error: unknown): boolean => error instanceof Unauthenticated

/** The proof of a bound token stands beside it, and is of the request that opened the socket. */
const byParams = (connection: Connection) => (tenant: string) => ({
  proof: paramOf(connection, 'dpop'),
  method: 'GET',
  url: urlOf(tenant),
})

/** Why a token was refused, in the 123 bytes that a closing frame has for it; a nonce that is wanted stands last. */
const reasonOf = ({ message, headers }: AppError): string =>
  headers['dpop-nonce'] ? `use_dpop_nonce ${headers['dpop-nonce']}` : message

/** Whether the socket may be used. One that was closed here stays without an acknowledgement, and runs nothing that still comes. */
async function connect(connection: Connection): Promise<boolean> {
  const { socket } = connection.extra
  if (paramOf(connection, 'authorization') === null) {
    socket.close(CloseCode.Unauthorized, 'Send connection_init with {authorization: "Bearer …"}')
    return false
  }
  const { ctx, fault, token, binding } = await callerOf(connection, byParams(connection))
  if (fault) {
    if (isBadToken(fault)) socket.close(CloseCode.Forbidden, reasonOf(fault))
    else socket.close(CloseCode.InternalServerError, 'Try again')
    return false
  }
  if (!(await mayUse(connection.extra.request, ctx))) {
    socket.close(CloseCode.Forbidden, "The page's origin is not among its client's allowedOrigins")
    return false
  }
  connection.extra.provenJkt = binding.jkt
  const remaining = Math.min((token?.expiresAt.getTime() ?? 0) - Date.now(), MAX_TIMEOUT_MS)
  const expiry = setTimeout(
    () => socket.close(CloseCode.Forbidden, 'The access token has expired'),
    remaining,
  )
  expiry.unref()
  socket.once('close', () => clearTimeout(expiry))
  return true
}

/** Makes the operation ready to run; what is wrong with it is returned, as graphql-ws wants it. */
async function prepare(
  getEnveloped: (context: GraphQLContext) => Enveloped,
  connection: Connection,
  payload: SubscribePayload,
): Promise<ExecutionArgs | GraphQLError[]> {
  const { provenJkt = null } = connection.extra
  const context = createContext(await callerOf(connection, () => ({ provenJkt })))
  const { requestId } = context.ctx
  if (context.fault) {
    if (isBadToken(context.fault)) connection.extra.socket.close(CloseCode.Forbidden, context.fault.message)
    return [toGraphQLError(context.fault, requestId)]
  }
  if (Object.keys(connection.subscriptions).length > MAX_OPERATIONS)
    return [
      toGraphQLError(new AppError('RATE_LIMITED', 429, 'Too many operations on one socket.'), requestId),
    ]
  try {
    const { schema, parse, validate, contextFactory, execute, subscribe } = getEnveloped(context)
    const document = parse(payload.query)
    const faults = validate(schema, document)
    if (faults.length > 0) return maskErrors(faults, requestId)
    const contextValue = (await contextFactory()) as GraphQLContext
    closeWithToken(connection.extra, contextValue)
    const { operationName, variables: variableValues } = payload
    const args: ExecutionArgs = { schema, document, contextValue, operationName, variableValues }
    return Object.assign(args, { rootValue: { execute, subscribe } })
  } catch (error) {
    return maskErrors([error], requestId)
  }
}

/** The token is gone, and with it all that the socket could still do. The client hears why on its stream first. */
function closeWithToken({ socket }: Extra, { stream: { signal } }: GraphQLContext): void {
  signal.addEventListener('abort', () => {
    if (!isBadToken(signal.reason)) return
    setImmediate(() => socket.close(CloseCode.Forbidden, 'The access token is invalid, expired or revoked'))
  })
}

type Runner = { execute: Enveloped['execute']; subscribe: Enveloped['subscribe'] }

/** WebSockets of all tenants (graphql-transport-ws), executing through the same pipeline as HTTP. */
export function createSocketServer(getEnveloped: (context: GraphQLContext) => Enveloped) {
  const server = new WebSocketServer({ noServer: true, maxPayload: JSON_LIMIT_BYTES, handleProtocols })
  const served = useServer<Record<string, unknown>, Extra>(
    {
      connectionInitWaitTimeout: INIT_WAIT_MS,
      isProd: true, // closing reasons name no inner error
      onConnect: connect,
      onSubscribe: (connection, _id, payload) => prepare(getEnveloped, connection, payload),
      execute: (args) => (args.rootValue as Runner).execute({ ...args, rootValue: undefined }),
      subscribe: (args) => (args.rootValue as Runner).subscribe({ ...args, rootValue: undefined }),
      onNext: (_connection, _id, _payload, args, { errors, ...result }) => ({
        ...result,
        ...(errors && { errors: maskErrors(errors, requestIdOf(args)).map(toJson) }),
      }),
      onError: (_connection, _id, _payload, errors) =>
        errors.map((error) =>
          toJson(error.extensions.requestId ? error : (maskErrors([error], '-')[0] as GraphQLError)),
        ),
    },
    server,
    PING_MS,
  )
  const bufferCheck = setInterval(() => {
    for (const socket of server.clients) if (socket.bufferedAmount > MAX_BUFFERED_BYTES) closeSlow(socket)
  }, BUFFER_CHECK_MS)
  bufferCheck.unref()

  return {
    upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, tenant: string): void => {
      socket.on('error', () => socket.destroy())
      const refuse = (status: string) =>
        socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
      Promise.all([findTenant(tenant), mayOpen(request, tenant)]).then(
        ([found, permitted]) => {
          if (!found) return refuse('404 Not Found')
          if (!permitted) return refuse('403 Forbidden')
          tenants.set(request, tenant)
          server.handleUpgrade(request, socket, head, (client) => server.emit('connection', client, request))
        },
        (error: unknown) => {
          log.warn({ err: error }, 'a socket could not be opened')
          refuse('503 Service Unavailable')
        },
      )
    },
    close: async (): Promise<void> => {
      clearInterval(bufferCheck)
      const limit = setTimeout(() => {
        for (const client of server.clients) client.terminate()
      }, 2000)
      await served.dispose()
      clearTimeout(limit)
    },
  }
}

const requestIdOf = (args: ExecutionArgs): string => (args.contextValue as GraphQLContext).ctx.requestId

/** Its close frame waits behind what it does not read, so that the connection is cut soon after. */
function closeSlow(socket: WebSocket): void {
  if (socket.readyState === WebSocket.OPEN) socket.close(TOO_SLOW, 'Too slow; resume from your position')
  setTimeout(() => socket.terminate(), BUFFER_CHECK_MS).unref()
}
