import type { IncomingMessage } from 'node:http'
import { CloseCode, type Context } from 'graphql-ws'
import { WebSocket } from 'ws'
import { findClient } from '../../access/client-cache.ts'
import type { KeyProof } from '../../access/dpop/dpop-binding.ts'
import { isListedOrigin } from '../../access/origins.ts'
import { apiResourceOf } from '../../access/protected-resources.ts'
import { recordRejectedOrigin } from '../../access/rejected-origins.ts'
import { type Ctx, createCtx } from '../../context/context.ts'
import { chargeCall, createBudgetError } from '../../coordination/call-budget.ts'
import { env } from '../../core/env.ts'
import { type AppError, RateLimited, Unauthenticated } from '../../core/errors.ts'
import { Expiries } from '../../core/expiries.ts'
import { createRequestId, readRequestMeta } from '../../http/request.http.ts'
import { identifyCaller } from '../request-context.ts'
import { holdSocket } from './live-limits.ts'
import { endAnswers } from './socket-answers.ts'

/** What is kept of an upgrade request: a socket may be open for days. */
export type Upgrade = {
  tenant: string
  ip: string | null
  userAgent: string | null
  origin: string | undefined
}

export type SocketExtra = {
  socket: WebSocket
  upgrade: Upgrade
  /** Ends the count of the socket: among those without connection_init, and then among those of its caller. */
  release: () => void
  /** Ends the time to send connection_init; null afterwards. */
  initTimer: NodeJS.Timeout | null
  /** The second in which its token expires; null before connection_init. */
  expiry: number | null
  /** The key that connection_init proved; its proof cannot be used again for operations. */
  provenJkt: string | null
  /** The number of its operations that wait for their turns. */
  waiting: number
}
/** A connection of graphql-transport-ws. */
export type SocketConnection = Context<Record<string, unknown>, SocketExtra>

/** Reads what is kept of an upgrade request. */
export function readUpgrade(request: IncomingMessage, tenant: string): Upgrade {
  const headers = new Headers()
  for (const name of ['x-forwarded-for', 'user-agent']) {
    const value = request.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  const { ip, userAgent } = readRequestMeta(headers, request.socket.remoteAddress ?? null)
  return { tenant, ip, userAgent, origin: request.headers.origin }
}

const isOwnOrigin = (origin: string | undefined): boolean => !origin || origin === env.baseUrl

/** True when any client of the tenant lists the origin: the upgrade request does not identify the client. */
export const isAllowedOrigin = async ({ tenant, origin }: Upgrade): Promise<boolean> =>
  isOwnOrigin(origin) || isListedOrigin(tenant, origin as string)

/** Records that pages of the origin may not open a socket. */
export const recordUpgradeOrigin = ({ origin = '', ...caller }: Upgrade): Promise<void> =>
  recordRejectedOrigin(
    createCtx({ ...caller, actor: { kind: 'anonymous' }, scopes: new Set(), requestId: createRequestId() }),
    'token.refused',
    'graphql',
    { allowedOrigins: [] },
    origin,
  )

/** A page of another origin may use only tokens of a client that lists the origin, as with CORS. */
async function isAllowedCaller({ origin }: Upgrade, { actor }: Ctx): Promise<boolean> {
  if (isOwnOrigin(origin)) return true
  if ((actor.kind !== 'user' && actor.kind !== 'client') || !actor.clientId) return false
  const client = await findClient(actor.tenant, actor.clientId)
  return client?.allowedOrigins.includes(origin as string) ?? false
}

/** Finds a connection parameter by its name, which is case-insensitive like that of an HTTP header. */
const findConnectionParam = (
  { connectionParams }: SocketConnection,
  header: 'authorization' | 'dpop',
): string | null => {
  const entry = Object.entries(connectionParams ?? {}).find(([name]) => name.toLowerCase() === header)
  return typeof entry?.[1] === 'string' ? entry[1] : null
}

/**
 * Authenticates the caller of a connection. Called for each operation, since a socket may outlive its token.
 */
export async function identifySocketCaller(
  connection: SocketConnection,
  createProof: (tenant: string) => KeyProof,
) {
  const { tenant, ip, userAgent } = connection.extra.upgrade
  return identifyCaller(
    tenant,
    { requestId: createRequestId(), ip, userAgent },
    findConnectionParam(connection, 'authorization'),
    createProof(tenant),
  )
}

export const isTokenError = (error: unknown): boolean => error instanceof Unauthenticated

/** The DPoP proof of connection_init covers the upgrade request. */
const createParamsProof = (connection: SocketConnection) => (tenant: string) => ({
  proof: findConnectionParam(connection, 'dpop'),
  method: 'GET',
  url: apiResourceOf(tenant, 'graphql'),
})

/**
 * The reason of a close frame, at most 123 bytes: the message, or the nonce that the next proof must have.
 */
const toCloseReason = ({ message, headers }: AppError): string =>
  headers['dpop-nonce'] ? `use_dpop_nonce ${headers['dpop-nonce']}` : message

/** A close code in addition to those of graphql-ws, after which its client tries again. */
const TOO_MANY_CODE = 4420

/** Counts a socket for its caller instead of its network. False when the socket is rejected and closed. */
function holdAccepted({ extra }: SocketConnection, ctx: Ctx): boolean {
  try {
    const release = holdSocket(ctx)
    extra.release()
    extra.release = release
    return true
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error
    extra.socket.close(TOO_MANY_CODE, error.message)
    return false
  }
}

/** The sockets by the time when their tokens expire. */
const expiries = new Expiries<WebSocket>((socket) =>
  socket.close(CloseCode.Forbidden, 'The access token has expired'),
)

function endInitTime(extra: SocketExtra): void {
  clearTimeout(extra.initTimer ?? undefined)
  extra.initTimer = null
}

/**
 * Authenticates connection_init, and charges it to the budget of its caller. False when the connection is rejected: the socket is closed and executes no
 * operation.
 */
export async function acceptConnection(connection: SocketConnection): Promise<boolean> {
  const { socket, upgrade } = connection.extra
  endInitTime(connection.extra)
  const { ctx, rejection, token, binding } = await identifySocketCaller(
    connection,
    createParamsProof(connection),
  )
  const budget = chargeCall(ctx)
  if (budget.isExhausted) {
    socket.close(TOO_MANY_CODE, createBudgetError(budget).message)
    return false
  }
  if (!rejection && !token) {
    socket.close(CloseCode.Unauthorized, 'Send connection_init with {authorization: "Bearer …"}')
    return false
  }
  if (rejection) {
    if (isTokenError(rejection)) socket.close(CloseCode.Forbidden, toCloseReason(rejection))
    else socket.close(CloseCode.InternalServerError, 'Try again')
    return false
  }
  if (!(await isAllowedCaller(upgrade, ctx))) {
    socket.close(CloseCode.Forbidden, "The origin is not in the client's allowedOrigins")
    return false
  }
  // It may have been closed meanwhile.
  if (socket.readyState !== WebSocket.OPEN || !holdAccepted(connection, ctx)) return false
  connection.extra.provenJkt = binding.jkt
  connection.extra.expiry = expiries.add(socket, token?.expiresAt ?? new Date(0))
  return true
}

/** Ends what a closed socket has held. */
export function releaseConnection(extra: SocketExtra): void {
  extra.release()
  endInitTime(extra)
  endAnswers(extra.socket)
  if (extra.expiry !== null) expiries.delete(extra.socket, extra.expiry)
}
