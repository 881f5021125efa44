import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** The responses of a connection that are not closed, in the order of their requests. */
const OPEN_RESPONSES = Symbol('open responses')
type Connection = Duplex & { [OPEN_RESPONSES]?: Set<ServerResponse> }
/** What a client sends before it has the first response takes memory, at once for all that arrives in one packet. */
const MAX_OPEN_RESPONSES = 16

/**
 * Node closes the response that it sends when the client is gone, and not those of later requests, which wait behind it:
 * what they hold would be held for good.
 */
function closeWaiting(this: Connection): void {
  for (const response of this[OPEN_RESPONSES] ?? []) {
    if (response.socket || response.writableFinished) continue
    response.destroy()
    response.emit('close')
  }
}

function openConnection(connection: Connection): Set<ServerResponse> {
  connection.once('close', closeWaiting)
  const responses = new Set<ServerResponse>()
  connection[OPEN_RESPONSES] = responses
  return responses
}

/**
 * Has a response closed with its connection in any case. Call the returned function when it is closed. Null when the
 * connection is closed, because its client sends too many requests without waiting for their responses.
 */
export function closeWithConnection(
  { socket }: IncomingMessage,
  response: ServerResponse,
): (() => void) | null {
  const connection: Connection = socket
  const responses = connection[OPEN_RESPONSES] ?? openConnection(connection)
  if (responses.size >= MAX_OPEN_RESPONSES) connection.destroy()
  if (connection.destroyed) return null
  responses.add(response)
  return () => void responses.delete(response)
}

/** Works on a connection once the responses to its earlier requests are sent, unless the client is gone by then. */
export function afterOpenResponses(connection: Connection, work: () => void): void {
  const last = [...(connection[OPEN_RESPONSES] ?? [])].at(-1)
  if (!last) {
    work()
    return
  }
  last.once('close', () => {
    if (connection.writable) work()
  })
}
