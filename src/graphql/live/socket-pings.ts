import type { WebSocket, WebSocketServer } from 'ws'

/** Each socket is pinged once in so many seconds, by one timer for all. */
const PING_SECONDS = 12
const SLOT_MS = 1000

/**
 * Pings the sockets of a server, and terminates those that have not answered the last ping. Returns a function that
 * ends it.
 */
export function startPings(server: WebSocketServer): () => void {
  const slots = Array.from({ length: PING_SECONDS }, () => new Set<WebSocket>())
  const unanswered = new WeakSet<WebSocket>()
  let current = 0
  let opened = 0
  function markAnswered(this: WebSocket): void {
    unanswered.delete(this)
  }
  server.on('connection', (socket: WebSocket) => {
    const slot = slots[opened % PING_SECONDS]
    opened += 1
    slot?.add(socket)
    socket.on('pong', markAnswered)
  })
  const timer = setInterval(() => {
    current = (current + 1) % PING_SECONDS
    const slot = slots[current] as Set<WebSocket>
    for (const socket of slot) {
      if (socket.readyState === socket.CLOSED) slot.delete(socket)
      else if (unanswered.has(socket)) socket.terminate()
      else if (socket.readyState === socket.OPEN) {
        unanswered.add(socket)
        socket.ping()
      }
    }
  }, SLOT_MS)
  timer.unref()
  return () => clearInterval(timer)
}
