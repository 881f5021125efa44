import { once } from 'node:events'
import { createServer, request as send } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'

/** Chooses the server for the next request, out of so many. */
export type Choice = (count: number) => number

export function inTurns(): Choice {
  let next = 0
  return (count) => next++ % count
}

/** One origin for several servers, like a load balancer without sticky sessions. */
export type Balancer = {
  origin: string
  /** Sets the targets of all further requests. */
  route: (targets: readonly string[], choice: Choice) => void
  /** How many requests went to each target. */
  served: Map<string, number>
  close: () => Promise<void>
}

export async function startBalancer(): Promise<Balancer> {
  let targets: readonly string[] = []
  let choice = inTurns()
  const served = new Map<string, number>()
  const server = createServer((asked, answer) => {
    const target = targets[choice(targets.length)]
    if (!target) return void answer.writeHead(503).end()
    served.set(target, (served.get(target) ?? 0) + 1)
    const { method, url: path, headers } = asked
    // A connection for each request, so that none sticks to a server.
    const passed = send(target, {
      method,
      path,
      agent: false,
      headers: { ...headers, connection: 'close' },
    })
    passed.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.rawHeaders)
      response.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    route: (...given) => {
      ;[targets, choice] = given
    },
    served,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A proxy to Redis that can be interrupted without affecting other users of the same Redis. */
export type RedisLink = {
  url: string
  /** Simulates a killed Redis: connections break, and new ones are refused. */
  cut: () => void
  /** Simulates a Redis that hangs: connections are accepted, but never answered. */
  freeze: () => Promise<void>
  /** Redis executes what it is sent, and its answers are lost. */
  mute: () => void
  restore: () => Promise<void>
  close: () => void
}

export async function startRedisLink(redisUrl: string): Promise<RedisLink> {
  const target = new URL(redisUrl)
  const sockets = new Set<Socket>()
  let isFrozen = false
  let isMute = false
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    return socket
  }
  const server = createTcpServer((near) => {
    keep(near)
    if (isFrozen) return void near.resume()
    const far = keep(connect(Number(target.port || 6379), target.hostname))
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
    near.on('data', (chunk) => isFrozen || far.write(chunk))
    far.on('data', (chunk) => isFrozen || isMute || near.write(chunk))
  })
  const listen = async (port: number) => {
    if (server.listening) return
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const drop = () => {
    for (const socket of sockets) socket.destroy()
  }
  const cut = () => {
    server.close()
    drop()
  }
  await listen(0)
  const { port } = server.address() as AddressInfo
  const url = new URL(redisUrl)
  url.host = `127.0.0.1:${port}`
  return {
    url: url.href,
    cut,
    freeze: async () => {
      isFrozen = true
      await listen(port)
    },
    mute: () => {
      isMute = true
    },
    restore: async () => {
      isFrozen = isMute = false
      drop()
      await listen(port)
    },
    close: cut,
  }
}
