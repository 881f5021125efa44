import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { noteStatus } from '../core/requests/record.ts'

/** How long the answer to a rejected upgrade may wait for a peer that reads nothing. */
const WRITE_TIMEOUT_MS = 2000

/**
 * Answers an upgrade request that is rejected, and closes the connection once the answer is written. Node leaves the
 * connection to its listener: without it, a peer that does not close its side would hold the socket for good.
 */
export function rejectUpgrade(socket: Duplex, status: string, header = ''): void {
  noteStatus(Number(status.slice(0, 3)))
  const limit = setTimeout(() => socket.destroy(), WRITE_TIMEOUT_MS)
  socket.on('error', () => socket.destroy())
  socket.once('close', () => clearTimeout(limit))
  socket.end(`HTTP/1.1 ${status}\r\n${header}Connection: close\r\nContent-Length: 0\r\n\r\n`, () =>
    socket.destroy(),
  )
}

export const isWebSocketUpgrade = ({ headers }: IncomingMessage): boolean =>
  /\bwebsocket\b/i.test(headers.upgrade ?? '')

/** Names and values. Node drops headers of a request with more, such as one that says where its body ends. */
const MAX_RAW_HEADERS = 2000

/** Headers of one connection that are about another protocol. */
const UPGRADE_HEADERS = /^(?:upgrade|http2-settings)$/i

/** The options of a Connection header without those of an upgrade. */
const withoutUpgrade = (options: string): string =>
  options
    .split(',')
    .map((option) => option.trim())
    .filter((option) => !UPGRADE_HEADERS.test(option))
    .join(', ')

/**
 * Answers a request as if it had not asked for another protocol, such as h2c (RFC 9110, section 7.8). Node has stopped to
 * read the connection as HTTP, so the server reads the request again, without the headers of the upgrade. The responses to
 * earlier requests of the connection are sent.
 */
export function ignoreUpgrade(server: Server, request: IncomingMessage, socket: Socket, rest: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  if (rawHeaders.length >= MAX_RAW_HEADERS) {
    rejectUpgrade(socket, '431 Request Header Fields Too Large')
    return
  }
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2)
    const kept = /^connection$/i.test(name) ? withoutUpgrade(value) : value
    if (!UPGRADE_HEADERS.test(name)) lines.push(`${name}: ${kept}`)
  }
  // The limit of the time until the next request: this is the next one.
  socket.setTimeout(0)
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), rest]))
  server.emit('connection', socket)
}
