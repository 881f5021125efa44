import { CloseCode, type Server, type WebSocket as Transport } from 'graphql-ws'
import { type RawData, WebSocket } from 'ws'
import { errorMessage } from '../../core/error-message.ts'
import { markChangedNumbers } from '../../core/json/exact-json.ts'
import { log } from '../../core/log.ts'
import { releaseConnection, type SocketExtra, type Upgrade } from './socket-connection.ts'

const INIT_TIMEOUT_MS = 3000

/**
 * A socket as graphql-ws uses it. It holds no function of its own, and a message is dropped once its text is read:
 * thousands of sockets may wait for hours.
 */
class SocketTransport implements Transport {
  readonly #socket: WebSocket

  constructor(socket: WebSocket) {
    this.#socket = socket
  }

  get protocol(): string {
    return this.#socket.protocol
  }

  send(text: string): Promise<void> {
    const socket = this.#socket
    return new Promise((resolve, reject) => {
      if (socket.readyState !== WebSocket.OPEN) return resolve()
      socket.send(text, (error) => (error ? reject(error) : resolve()))
    })
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
  }

  onMessage(receive: (text: string) => Promise<void>): void {
    const socket = this.#socket
    socket.on('message', (data: RawData) => {
      receive(markChangedNumbers(String(data))).catch((error: unknown) => closeAfterError(socket, error))
    })
  }
}

function closeAfterError(socket: WebSocket, error: unknown): void {
  log.info({ err: errorMessage(error) }, 'a socket is closed after an error')
  socket.close(CloseCode.InternalServerError, 'Internal server error')
}

/** A socket of `ws` calls its listeners with itself as `this`. */
function handleError(this: WebSocket, error: Error): void {
  closeAfterError(this, error)
}

/** Runs graphql-transport-ws over a socket. `release` ends the count of the socket without connection_init. */
export function openTransport(
  protocol: Server<SocketExtra>,
  socket: WebSocket,
  upgrade: Upgrade,
  release: () => void,
): void {
  const initTimer = setTimeout(
    () => socket.close(CloseCode.ConnectionInitialisationTimeout, 'Connection initialisation timeout'),
    INIT_TIMEOUT_MS,
  )
  const extra: SocketExtra = {
    socket,
    upgrade,
    release,
    initTimer,
    expiry: null,
    provenJkt: null,
    waiting: 0,
  }
  const close = protocol.opened(new SocketTransport(socket), extra)
  socket.on('error', handleError)
  socket.on('close', (code, reason) => {
    releaseConnection(extra)
    close(code, String(reason)).catch((error: unknown) => closeAfterError(socket, error))
  })
}
