import type { IncomingMessage, ServerResponse } from 'node:http'

/** How long a body may take to arrive, unless it is read as a stream. */
const UPLOAD_LIMIT_MS = 300_000
/** How long whoever sends a stream, or is sent one, may do nothing at all. */
const IDLE_LIMIT_MS = 60_000
/** How long a body may go on arriving after it was answered: time for the answer to be read. */
const AFTERWARDS_MS = 2000

const limits = new WeakMap<IncomingMessage, NodeJS.Timeout>()

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * Cuts a request off whose body takes too long, or does not end with the answer. The server's own requestTimeout must be
 * off: it is the same for all requests, and an import may take an hour.
 */
export function limitUpload(request: IncomingMessage, response: ServerResponse): void {
  if (!hasBody(request)) return
  const cut = () => request.socket.destroy()
  const limit = setTimeout(cut, UPLOAD_LIMIT_MS).unref()
  limits.set(request, limit)
  const done = () => clearTimeout(limit)
  request.once('end', done).once('close', done)
  response.once('finish', () => {
    if (request.complete) return
    const afterwards = setTimeout(cut, AFTERWARDS_MS).unref()
    request.once('close', () => clearTimeout(afterwards))
  })
}

/** Lets a body take as long as it likes, as long as something of it, or of the answer, arrives. */
export function expectStream(request: IncomingMessage): void {
  clearTimeout(limits.get(request))
  request.socket.setTimeout(IDLE_LIMIT_MS)
}
