import type { Duplex } from 'node:stream'

/** How long the answer to a rejected upgrade may wait for a peer that reads nothing. */
const WRITE_TIMEOUT_MS = 2000

/**
 * Answers an upgrade request that is rejected, and closes the connection once the answer is written. Node leaves the
 * connection to its listener: without it, a peer that does not close its side would hold the socket for good.
 */
export function rejectUpgrade(socket: Duplex, status: string, header = ''): void {
  const limit = setTimeout(() => socket.destroy(), WRITE_TIMEOUT_MS)
  socket.once('close', () => clearTimeout(limit))
  socket.end(`HTTP/1.1 ${status}\r\n${header}Connection: close\r\nContent-Length: 0\r\n\r\n`, () =>
    socket.destroy(),
  )
}
