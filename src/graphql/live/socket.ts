import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLError,
  getOperationAST,
  OperationTypeNode,
} from 'graphql'
import { CloseCode, handleProtocols, makeServer, type SubscribePayload } from 'graphql-ws'
import type { YogaServerInstance } from 'graphql-yoga'
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws'
import { findTenant } from '../../access/tenant-cache.ts'
import { OpenAnswer } from '../../coordination/answers.ts'
import { AppError, type RateLimited } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { noteStatus } from '../../core/requests/record.ts'
import { takeTurn } from '../../core/turns.ts'
import { createRequestId } from '../../http/request.http.ts'
import { JSON_LIMIT_BYTES } from '../../http/request-body.http.ts'
import { rejectUpgrade } from '../../http/upgrades.http.ts'
import type { GraphQLContext } from '../context.ts'
import { maskErrors, toErrorJson, toGraphQLError } from '../error-masking.ts'
import { type FindConsoleDocument, resolveDocument } from '../limits/requested-document.ts'
import { createContext } from '../request-context.ts'
import { holdOpeningSocket } from './live-limits.ts'
import { closeSlowSockets, endAnswer, hasTooMuchUnread, holdAnswer } from './socket-answers.ts'
import {
  acceptConnection,
  identifySocketCaller,
  isAllowedOrigin,
  isTokenError,
  readUpgrade,
  recordUpgradeOrigin,
  type SocketConnection,
  type SocketExtra,
} from './socket-connection.ts'
import { startPings } from './socket-pings.ts'
import { openTransport } from './socket-transport.ts'
import type { StreamTransport } from './stream.ts'

const BUFFER_CHECK_MS = 1000
/** Above it, a stream no longer shares its execution: its results wait until the client reads. */
const MAX_SHARED_BUFFER_BYTES = 64_000
const MAX_OPERATIONS = 100

const SERVER_OPTIONS: ServerOptions & { closeTimeout: number } = {
  noServer: true,
  maxPayload: JSON_LIMIT_BYTES,
  handleProtocols,
  // How long a client may take to answer a close frame, in milliseconds. Its declared type lacks it.
  closeTimeout: 2000,
}
type Enveloped = ReturnType<YogaServerInstance<object, GraphQLContext>['getEnveloped']>

const createLimitError = (requestId: string): GraphQLError =>
  toGraphQLError(new AppError('RATE_LIMITED', 429, 'Too many operations on one socket.'), requestId)

/**
 * Waits for the turn of an operation. False when as many wait already: a client may complete operations that wait, and
 * send others.
 */
async function awaitTurn(extra: SocketExtra): Promise<boolean> {
  if (extra.waiting >= MAX_OPERATIONS) return false
  extra.waiting += 1
  await takeTurn({ tenant: extra.upgrade.tenant, workload: 'change' })
  extra.waiting -= 1
  return true
}

/** How operations are executed, and which documents they may name. */
type Operations = {
  getEnveloped: (context: GraphQLContext) => Enveloped
  findConsoleDocument: FindConsoleDocument
}

/**
 * Parses and validates an operation. Returns its execution arguments, or its errors, as graphql-ws expects.
 */
async function prepareOperation(
  { getEnveloped, findConsoleDocument }: Operations,
  connection: SocketConnection,
  id: string,
  payload: SubscribePayload,
): Promise<ExecutionArgs | GraphQLError[]> {
  const { extra, subscriptions } = connection
  if (!(await awaitTurn(extra))) return [createLimitError(createRequestId())]
  if (hasTooMuchUnread(extra.socket)) return [createLimitError(createRequestId())]
  const { provenJkt } = extra
  const context = createContext(await identifySocketCaller(connection, () => ({ provenJkt })))
  const { requestId } = context.ctx
  if (context.rejection) {
    if (isTokenError(context.rejection)) extra.socket.close(CloseCode.Forbidden, context.rejection.message)
    return [toGraphQLError(context.rejection, requestId)]
  }
  if (Object.keys(subscriptions).length > MAX_OPERATIONS) return [createLimitError(requestId)]
  try {
    const { query } = (await resolveDocument(payload, context.ctx, findConsoleDocument)) as SubscribePayload
    const { schema, parse, validate, contextFactory, execute, subscribe } = getEnveloped(context)
    const document = parse(query)
    const errors = validate(schema, document)
    if (errors.length > 0) return maskErrors(errors, requestId)
    const contextValue = (await contextFactory()) as GraphQLContext
    contextValue.stream.transport = new SocketStream(extra.socket, id)
    const { variables: variableValues } = payload
    const operationName = payload.operationName || undefined
    if (isAnsweredOnce(document, operationName)) {
      // As over HTTP.
      const answer = new OpenAnswer(contextValue.ctx)
      contextValue.ctx = { ...contextValue.ctx, answer }
      holdAnswer(extra.socket, payload, answer)
    }
    const args: ExecutionArgs = { schema, document, contextValue, operationName, variableValues }
    return Object.assign(args, { rootValue: { execute, subscribe } })
  } catch (error) {
    return maskErrors([error], requestId)
  }
}

/** Whether it is a query or mutation. graphql-ws does not say when an operation ends that the document does not have. */
function isAnsweredOnce(document: DocumentNode, operationName: string | undefined): boolean {
  const kind = getOperationAST(document, operationName)?.operation
  return kind === OperationTypeNode.QUERY || kind === OperationTypeNode.MUTATION
}

/** A subscription over a socket. */
class SocketStream implements StreamTransport {
  readonly #socket: WebSocket
  readonly #id: string

  constructor(socket: WebSocket, id: string) {
    this.#socket = socket
    this.#id = id
  }

  /** Sends a `next` message without graphql-ws. */
  deliver(text: string): boolean {
    if (this.#socket.bufferedAmount > MAX_SHARED_BUFFER_BYTES) return false
    this.#socket.send(`{"id":${JSON.stringify(this.#id)},"type":"next","payload":${text}}`)
    return true
  }

  /** Closes the socket when the token expires or is revoked, after the stream has sent the error. */
  handleEnd(reason: unknown): void {
    if (!isTokenError(reason)) return
    const socket = this.#socket
    setImmediate(() => socket.close(CloseCode.Forbidden, 'The access token is invalid, expired or revoked'))
  }
}

type OperationRunner = { execute: Enveloped['execute']; subscribe: Enveloped['subscribe'] }

/** Runs an operation, and drops its functions, which graphql-ws would keep as long as the stream. */
function runOperation(kind: keyof OperationRunner, args: ExecutionArgs): unknown {
  const { rootValue, ...operation } = args
  args.rootValue = undefined
  return (rootValue as OperationRunner)[kind](operation)
}

/**
 * Creates the WebSocket server of all tenants (graphql-transport-ws). Operations are executed like those over
 * HTTP.
 */
export function createSocketServer(operations: Operations) {
  const server = new WebSocketServer(SERVER_OPTIONS)
  const protocol = makeServer<Record<string, unknown>, SocketExtra>({
    connectionInitWaitTimeout: 0, // socket-transport.ts waits
    onConnect: acceptConnection,
    onSubscribe: (connection, id, payload) => prepareOperation(operations, connection, id, payload),
    execute: (args) => runOperation('execute', args) as ReturnType<OperationRunner['execute']>,
    subscribe: (args) => runOperation('subscribe', args) as ReturnType<OperationRunner['subscribe']>,
    onNext: (_connection, _id, _payload, args, { errors, ...result }) => ({
      ...result,
      ...(errors && { errors: maskErrors(errors, getRequestId(args)).map(toErrorJson) }),
    }),
    onError: ({ extra }, _id, payload, errors) => {
      endAnswer(extra.socket, payload)
      return errors.map((error) =>
        toErrorJson(error.extensions.requestId ? error : (maskErrors([error], '-')[0] as GraphQLError)),
      )
    },
    // After its result is sent, or the client has completed it.
    onComplete: ({ extra }, _id, payload) => endAnswer(extra.socket, payload),
  })
  const stopPings = startPings(server)
  const bufferCheck = setInterval(() => closeSlowSockets(server.clients), BUFFER_CHECK_MS)
  bufferCheck.unref()

  return {
    upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, tenant: string): void => {
      const upgrade = readUpgrade(request, tenant)
      let release: () => void
      try {
        release = holdOpeningSocket(tenant, upgrade.ip)
        socket.once('close', release)
      } catch (error) {
        const { retryAfterSeconds } = error as RateLimited
        rejectUpgrade(socket, '429 Too Many Requests', `Retry-After: ${retryAfterSeconds}\r\n`)
        return
      }
      Promise.all([findTenant(tenant), isAllowedOrigin(upgrade)]).then(
        ([found, permitted]) => {
          if (!found) return rejectUpgrade(socket, '404 Not Found')
          if (!permitted) {
            void recordUpgradeOrigin(upgrade)
            return rejectUpgrade(socket, '403 Forbidden')
          }
          server.handleUpgrade(request, socket, head, (client) => {
            noteStatus(101)
            socket.off('close', release)
            server.emit('connection', client)
            openTransport(protocol, client, upgrade, release)
          })
        },
        (error: unknown) => {
          log.warn({ err: error }, 'a socket could not be opened')
          rejectUpgrade(socket, '503 Service Unavailable')
        },
      )
    },
    close: async (): Promise<void> => {
      clearInterval(bufferCheck)
      stopPings()
      const limit = setTimeout(() => {
        for (const client of server.clients) client.terminate()
      }, 2000)
      for (const client of server.clients) client.close(1001, 'Going away')
      await new Promise((resolve) => server.close(resolve))
      clearTimeout(limit)
    },
  }
}

const getRequestId = (args: ExecutionArgs): string => (args.contextValue as GraphQLContext).ctx.requestId
