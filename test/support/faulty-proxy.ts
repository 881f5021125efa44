import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type ProxyFault =
  | 'no-proto'
  | 'no-address'
  | 'no-upgrade'
  | 'buffers'
  | 'no-compression'
  | 'other-host'

/** A reverse proxy on loopback before a server, whose faults are switched. */
export type FaultyProxy = {
  origin: string
  /** `https://localhost:port`, with the certificate that it was started with. */
  secureOrigin: string
  fault: ProxyFault | null
  close: () => void
}

/** Starts the proxy over HTTP and over TLS. */
export async function startFaultyProxy(
  target: string,
  tls: { key: string; cert: string },
): Promise<FaultyProxy> {
  const proxy = { origin: '', secureOrigin: '', fault: null as ProxyFault | null }
  const forward = (scheme: string, incoming: IncomingMessage) => {
    const { fault } = proxy
    const headers = {
      ...incoming.headers,
      ...(fault !== 'no-proto' && { 'x-forwarded-proto': scheme }),
      ...(fault !== 'no-address' && { 'x-forwarded-for': incoming.socket.remoteAddress }),
      ...(fault === 'no-compression' && { 'accept-encoding': 'identity' }),
      ...(fault === 'other-host' && { host: 'backend.internal' }),
    }
    return request(target + incoming.url, { method: incoming.method, headers, agent: false })
  }
  const handle = (scheme: string) => (incoming: IncomingMessage, response: ServerResponse) => {
    const outgoing = incoming.pipe(forward(scheme, incoming))
    outgoing.on('error', () => response.destroy())
    outgoing.on('response', async (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      if (proxy.fault === 'buffers') response.end(await buffer(answer))
      else answer.pipe(response)
    })
  }
  const upgrade = (scheme: string) => (incoming: IncomingMessage, socket: Socket) => {
    socket.on('error', () => {})
    if (proxy.fault === 'no-upgrade')
      return socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n')
    const outgoing = forward(scheme, incoming).end()
    outgoing.on('upgrade', ({ headers }, upstream) => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`)
      upstream
        .on('error', () => {})
        .pipe(socket)
        .pipe(upstream)
    })
  }
  const [plain, secure] = [createServer(handle('http')), createTlsServer(tls, handle('https'))]
  plain.on('upgrade', upgrade('http')).listen(0, '127.0.0.1')
  secure.on('upgrade', upgrade('https')).listen(0, 'localhost')
  await Promise.all([once(plain, 'listening'), once(secure, 'listening')])
  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port
  return Object.assign(proxy, {
    origin: `http://127.0.0.1:${portOf(plain)}`,
    secureOrigin: `https://localhost:${portOf(secure)}`,
    close: () => [plain, secure].forEach((server) => void server.close()),
  })
}
