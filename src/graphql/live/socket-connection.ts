import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { CloseCode, type Context } from 'graphql-ws'
import type { WebSocket } from 'ws'
import { findClient } from '../../access/client-cache.ts'
import type { KeyProof } from '../../access/dpop-binding.ts'
import { isListedOrigin } from '../../access/origins.ts'
import type { Ctx } from '../../core/context.ts'
import { env } from '../../core/env.ts'
import { type AppError, RateLimited, Unauthenticated } from '../../core/errors.ts'
import { type RequestMeta, readRequestMeta } from '../../http/request.http.ts'
import { getGraphqlUrl, identifyCaller } from '../request-context.ts'
import { holdSocket } from './live-limits.ts'

/** The maximum delay of setTimeout: 31 bits. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

export type SocketExtra = {
  socket: WebSocket
  request: IncomingMessage
  /** The key that connection_init proved; its proof cannot be used again for operations. */
  provenJkt?: string | null
}
/** A connection of graphql-transport-ws. */
export type SocketConnection = Context<Record<string, unknown>, SocketExtra>
/** What is kept of an upgrade request, whose headers are dropped: a socket may be open for days. */
type Upgrade = {
  tenant: string
  ip: string | null
  userAgent: string | null
  origin: string | undefined
  /** Ends the count of the socket among those without connection_init. */
  release: () => void
}
const upgrades = new WeakMap<IncomingMessage, Upgrade>()

/** Reads the IP address and the user agent of an upgrade request. */
export function readUpgradeMeta(request: IncomingMessage): Pick<RequestMeta, 'ip' | 'userAgent'> {
  const headers = new Headers()
  for (const name of ['x-forwarded-for', 'user-agent']) {
    const value = request.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  const { ip, userAgent } = readRequestMeta(headers, request.socket.remoteAddress ?? null)
  return { ip, userAgent }
}

/** Keeps what is needed of an accepted upgrade request, and drops its headers. */
export function keepUpgrade(
  request: IncomingMessage,
  { tenant, release }: Pick<Upgrade, 'tenant' | 'release'>,
): void {
  const { origin } = request.headers
  upgrades.set(request, { tenant, release, origin, ...readUpgradeMeta(request) })
  request.headers = {}
  request.rawHeaders = []
}

/** The upgrade of a socket, which `keepUpgrade` has stored. */
const getUpgrade = ({ extra: { request } }: SocketConnection): Upgrade => upgrades.get(request) as Upgrade

const isOwnOrigin = (origin: string | undefined): boolean => !origin || origin === env.baseUrl

/** True when any client of the tenant lists the origin: the upgrade request does not identify the client. */
export const isAllowedOrigin = async (
  { headers: { origin } }: IncomingMessage,
  tenant: string,
): Promise<boolean> => isOwnOrigin(origin) || isListedOrigin(tenant, origin as string)

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
  const { tenant, ip, userAgent } = getUpgrade(connection)
  return identifyCaller(
    tenant,
    { requestId: randomUUID(), ip, userAgent },
    findConnectionParam(connection, 'authorization'),
    createProof(tenant),
  )
}

export const isTokenError = (error: unknown): boolean => error instanceof Unauthenticated

/** The DPoP proof of connection_init covers the upgrade request. */
const createParamsProof = (connection: SocketConnection) => (tenant: string) => ({
  proof: findConnectionParam(connection, 'dpop'),
  method: 'GET',
  url: getGraphqlUrl(tenant),
})

/**
 * The reason of a close frame, at most 123 bytes: the message, or the nonce that the next proof must have.
 */
const toCloseReason = ({ message, headers }: AppError): string =>
  headers['dpop-nonce'] ? `use_dpop_nonce ${headers['dpop-nonce']}` : message

/** A close code in addition to those of graphql-ws, after which its client tries again. */
const TOO_MANY_CODE = 4420

/** Counts a socket for its caller instead of its network. False when the socket is rejected and closed. */
function holdAccepted(connection: SocketConnection, ctx: Ctx): boolean {
  const { socket } = connection.extra
  try {
    socket.once('close', holdSocket(ctx))
    getUpgrade(connection).release()
    return true
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error
    socket.close(TOO_MANY_CODE, error.message)
    return false
  }
}

/**
 * Authenticates connection_init. False when the connection is rejected: the socket is closed and executes no
 * operation.
 */
export async function acceptConnection(connection: SocketConnection): Promise<boolean> {
  const { socket } = connection.extra
  if (findConnectionParam(connection, 'authorization') === null) {
    socket.close(CloseCode.Unauthorized, 'Send connection_init with {authorization: "Bearer …"}')
    return false
  }
  const { ctx, rejection, token, binding } = await identifySocketCaller(
    connection,
    createParamsProof(connection),
  )
  if (rejection) {
    if (isTokenError(rejection)) socket.close(CloseCode.Forbidden, toCloseReason(rejection))
    else socket.close(CloseCode.InternalServerError, 'Try again')
    return false
  }
  if (!(await isAllowedCaller(getUpgrade(connection), ctx))) {
    socket.close(CloseCode.Forbidden, "The origin is not in the client's allowedOrigins")
    return false
  }
  if (!holdAccepted(connection, ctx)) return false
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
