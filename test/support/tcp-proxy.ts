import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { closers } from './environment.ts'

/** A TCP proxy on loopback before a server, which can fail as networks do. */
export type TcpProxy = {
  port: number
  /** The connections that are open. */
  count: () => number
  /** Passes nothing on any more, in both directions, of open and new connections, as a network that drops packets. */
  freeze: () => void
  /** Passes on new connections again. Those that were frozen stay silent for good, as after a fail-over. */
  thaw: () => void
  /** Sends new connections to another port. */
  redirect: (port: number) => void
  /** Resets the open connections. */
  reset: () => void
  close: () => Promise<void>
}

/** Starts a proxy to `target` on this machine. It closes with the process's environment. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  let port = target
  let isFrozen = false
  const sockets = new Set<Socket>()
  const server = createServer({ keepAlive: false }, (client) => {
    sockets.add(client)
    client.on('error', () => {}).on('close', () => sockets.delete(client))
    if (isFrozen) return
    const upstream = connect(port, '127.0.0.1')
    sockets.add(upstream)
    upstream.on('error', () => client.resetAndDestroy()).on('close', () => sockets.delete(upstream))
    upstream.on('end', () => client.end())
    client.on('close', () => upstream.destroy()).on('end', () => upstream.end())
    client.pipe(upstream, { end: false })
    upstream.pipe(client, { end: false })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    count: () => sockets.size,
    freeze: () => {
      isFrozen = true
      for (const socket of sockets) {
        socket.unpipe()
        socket.removeAllListeners('end')
        socket.pause()
      }
    },
    thaw: () => {
      isFrozen = false
    },
    redirect: (next) => {
      port = next
    },
    reset: () => {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  closers.push(proxy.close)
  return proxy
}

/** `url` with the host and port of a proxy. */
export function throughProxy(url: string, { port }: TcpProxy): string {
  const changed = new URL(url)
  changed.hostname = '127.0.0.1'
  changed.port = String(port)
  return changed.href
}
