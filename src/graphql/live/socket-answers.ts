import { WebSocket } from 'ws'
import type { OpenAnswer } from '../../coordination/answers.ts'

/** A client that reads too slowly is disconnected, and can resume from its position. */
const MAX_UNREAD_BYTES = 1_000_000
/** Of a character in UTF-8: answers count their characters. */
const CHARACTER_BYTES = 3
/** A close code in addition to those of graphql-ws. */
const TOO_SLOW_CODE = 4413
/** The close frame waits behind unread data, so that the connection is terminated soon after. */
const CLOSE_MS = 1000

/** The answers of queries and mutations that a socket has not sent, by their messages. */
const openAnswers = new WeakMap<WebSocket, Map<object, OpenAnswer>>()

/** Counts the answer to a message until it is sent. A closed socket sends nothing. */
export function holdAnswer(socket: WebSocket, message: object, answer: OpenAnswer): void {
  if (socket.readyState === WebSocket.OPEN) {
    const answers = openAnswers.get(socket) ?? new Map<object, OpenAnswer>()
    openAnswers.set(socket, answers.set(message, answer))
  } else answer.close()
}

/** Ends the count of the answer to a message. */
export function endAnswer(socket: WebSocket, message: object): void {
  const answers = openAnswers.get(socket)
  answers?.get(message)?.close()
  answers?.delete(message)
}

/** Ends the counts of a closed socket. */
export function endAnswers(socket: WebSocket): void {
  for (const answer of openAnswers.get(socket)?.values() ?? []) answer.close()
}

/**
 * Whether the client has left too much unread, apart from the answers that are counted for its caller: they may be larger,
 * and a client that does not read them does not answer a ping either.
 */
export function hasTooMuchUnread(socket: WebSocket): boolean {
  let unread = socket.bufferedAmount
  if (unread <= MAX_UNREAD_BYTES) return false
  for (const { bytes } of openAnswers.get(socket)?.values() ?? []) unread -= bytes * CHARACTER_BYTES
  return unread > MAX_UNREAD_BYTES
}

/** Closes the sockets whose clients read too slowly. */
export function closeSlowSockets(sockets: Iterable<WebSocket>): void {
  for (const socket of sockets) {
    if (!hasTooMuchUnread(socket)) continue
    if (socket.readyState === WebSocket.OPEN)
      socket.close(TOO_SLOW_CODE, 'Too slow; resume from your position')
    setTimeout(() => socket.terminate(), CLOSE_MS).unref()
  }
}
