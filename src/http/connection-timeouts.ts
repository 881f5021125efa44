import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { env } from '../core/env.ts'
import { noteStatus } from '../core/requests/record.ts'

/**
 * The time limits of a connection. A peer that sends or reads slowly, or not at all, occupies memory and a socket.
 * All bodies have at most 100 KB, except those that are streams.
 */
export const TIMEOUTS_MS = {
  /** The headers of a request, from the start of the connection or of the request. */
  headers: 15_000,
  /** A body, unless it is read as a stream. */
  body: 15_000,
  /** The next 256 KB, or the rest, of a response. */
  reading: 15_000,
  /** Inactivity of a stream: an import, an export, an event stream. */
  idle: 60_000,
  /**
   * The next request of a connection. Load balancers reuse a connection for 60 s; one that the server closes first loses a
   * request.
   */
  keepAlive: 75_000,
  /** The rest of a body, received after the response so that the client can read the response. */
  linger: 2000,
}
const READ_BYTES = 262_144
/** How often Node compares the time of headers with its limit. */
export const HEADERS_CHECK_MS = 1000

/**
 * The timer of a request's body. A WeakMap would keep it, and through it the request, until a collection of all
 * objects: V8 keeps the values of a WeakMap when it collects young objects.
 */
const BODY_TIMER = Symbol('body timer')
type TimedRequest = IncomingMessage & { [BODY_TIMER]?: NodeJS.Timeout }

const hasRequestBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Answers a body that takes too long with 408, and closes the connection. */
function rejectSlowBody({ socket }: IncomingMessage, response: ServerResponse): void {
  noteStatus(408)
  if (!response.headersSent)
    socket.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  socket.destroySoon()
}

/** Limits the time of a request body, and of its rest after the response. */
export function setBodyTimeout(request: IncomingMessage, response: ServerResponse): void {
  if (!hasRequestBody(request)) return
  const limit = setTimeout(() => rejectSlowBody(request, response), TIMEOUTS_MS.body).unref()
  ;(request as TimedRequest)[BODY_TIMER] = limit
  const clearLimit = () => clearTimeout(limit)
  request.once('end', clearLimit).once('close', clearLimit)
  response.once('finish', () => {
    if (request.complete) return
    const linger = setTimeout(() => request.socket.destroy(), TIMEOUTS_MS.linger).unref()
    request.once('close', () => clearTimeout(linger))
  })
}

/** The bytes that were sent to the operating system. */
const countSent = ({ bytesWritten, writableLength }: Socket): number => bytesWritten - writableLength

/** Closes the connection of a client that reads a response too slowly. */
function dropSlowReader(socket: Socket, response: ServerResponse): void {
  let unread = socket.writableLength
  let sent = countSent(socket)
  const check = setInterval(() => {
    if (unread > 0 && countSent(socket) - sent < Math.min(READ_BYTES, unread)) return void socket.destroy()
    unread = socket.writableLength
    sent = countSent(socket)
  }, TIMEOUTS_MS.reading).unref()
  const stop = () => clearInterval(check)
  response.once('finish', stop).once('close', stop)
}

/** The unread bytes of responses that have ended, the oldest first. */
const unreadBytes = new Map<Socket, number>()
let unreadTotal = 0
const MAX_UNREAD_BYTES = env.answerMb * 1e6

function forgetUnread(socket: Socket): void {
  unreadTotal -= unreadBytes.get(socket) ?? 0
  unreadBytes.delete(socket)
}

/**
 * Counts the unread bytes of a response. Beyond those of a process, the connections whose responses have waited longest
 * are closed: clients that read have read theirs.
 */
function countUnread(socket: Socket, response: ServerResponse): void {
  forgetUnread(socket)
  unreadBytes.set(socket, socket.writableLength)
  unreadTotal += socket.writableLength
  const forget = () => forgetUnread(socket)
  response.once('finish', forget).once('close', forget)
  for (const oldest of unreadBytes.keys()) {
    if (unreadTotal <= MAX_UNREAD_BYTES || oldest === socket) return
    forgetUnread(oldest)
    oldest.destroy()
  }
}

/** Closes the connection of a client that does not read a response that has ended. */
export function setReadTimeout({ socket }: IncomingMessage, response: ServerResponse): void {
  response.once('prefinish', () => {
    if (socket.writableLength === 0) return
    countUnread(socket, response)
    dropSlowReader(socket, response)
  })
}

/** Limits the time of headers and between requests. Node's limit of whole requests would end streams. */
export function setHeadersTimeout(server: Server): void {
  server.requestTimeout = 0
  server.headersTimeout = TIMEOUTS_MS.headers
  server.keepAliveTimeout = TIMEOUTS_MS.keepAlive
}

/**
 * Replaces the time limit of a body by a limit on the inactivity of its socket, and limits the time in which a part of
 * the response is read.
 */
export function setStreamIdleTimeout(request: IncomingMessage, response: ServerResponse): void {
  clearTimeout((request as TimedRequest)[BODY_TIMER])
  request.socket.setTimeout(TIMEOUTS_MS.idle)
  dropSlowReader(request.socket, response)
}
