import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { test as base } from '../../support/fixtures.ts'
import { serveGraphql } from '../../support/graphql-server.ts'

vi.hoisted(() => {
  process.env.TRUST_PROXY = '1'
})

/** Upgrade requests that are rejected, by the headers that differ and the status. */
const REJECTED: [what: string, path: string, headers: Record<string, string>, status: number][] = [
  ['of an unknown tenant', '/no-such-tenant/graphql', {}, 404],
  ['of another origin', '/{tenant}/graphql', { origin: 'https://evil.example' }, 403],
  ['of an unknown version', '/{tenant}/graphql', { 'sec-websocket-version': '7' }, 400],
  ['without a key', '/{tenant}/graphql', { 'sec-websocket-key': '' }, 400],
  ['to another protocol', '/{tenant}/graphql', { upgrade: 'h2c' }, 400],
]
const PEERS = 500

type Peer = { socket: Socket; status: number }

const test = base
  .extend('server', async ({ app: _ }, { onCleanup }) => {
    const server = await serveGraphql()
    onCleanup(server.close)
    return server
  })
  /** Sends an upgrade request, and never closes its side of the connection. */
  .extend('openPeer', async ({ app: _ }, { onCleanup }) => {
    const sockets: Socket[] = []
    onCleanup(() => {
      for (const socket of sockets) socket.destroy()
    })
    return (origin: string, path: string, headers: Record<string, string>): Promise<Peer> => {
      const { hostname, port } = new URL(origin)
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
      sockets.push(socket)
      socket.on('error', () => undefined)
      const lines = Object.entries({
        host: 'localhost',
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-key': randomBytes(16).toString('base64'),
        'sec-websocket-version': '13',
        'sec-websocket-protocol': 'graphql-transport-ws',
        ...headers,
      }).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
      return new Promise((resolve) =>
        socket.once('data', (data) => resolve({ socket, status: Number(String(data).slice(9, 12)) })),
      )
    }
  })
  .extend(
    'countConnections',
    ({ server }) =>
      () =>
        new Promise<number>((resolve) => server.server.getConnections((_error, count) => resolve(count))),
  )

const newIp = (): string => `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`

/** Whether a WebSocket of a network opens. */
const opensSocket = (url: string, ip: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = new WebSocket(url, 'graphql-transport-ws', { headers: { 'x-forwarded-for': ip } })
    onTestFinished(() => socket.terminate())
    socket.on('error', () => resolve(false))
    socket.once('open', () => resolve(true))
  })

describe('rejected upgrades', () => {
  test.for(REJECTED)(
    '%s are closed by the server once they are answered, and count no longer',
    async ([_what, path, headers, status], { tenant, server, openPeer, countConnections }) => {
      const origin = new URL(server.urlOf(tenant)).origin
      const own = { ...headers, 'x-forwarded-for': newIp() }
      const send = () => openPeer(origin, path.replace('{tenant}', tenant), own)
      const first = await send()
      expect(first.status).toBe(status)
      for (let sent = 1; sent < PEERS; sent += 50) {
        const peers = await Promise.all(Array.from({ length: 50 }, send))
        // The places of a network are enough as long as those of rejected upgrades are free again.
        expect(new Set([...peers.map((peer) => peer.status), 429])).toEqual(new Set([status, 429]))
      }
      await expect.poll(countConnections).toBe(0)
      expect(await opensSocket(server.socketUrlOf(tenant), own['x-forwarded-for'])).toBe(true)
    },
  )

  test('of other paths are closed by the server once they are answered', async ({ app, openPeer }) => {
    const peers = await Promise.all(Array.from({ length: 50 }, () => openPeer(app.origin, '/nothing', {})))
    expect(peers.every(({ status }) => status === 404)).toBe(true)
    // A peer learns that both directions are closed when it writes.
    const closed = peers.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve)))
    await sleep(100)
    for (const { socket } of peers) {
      socket.write('x')
      await sleep(5)
      socket.write('x')
    }
    await Promise.all(closed)
  })
})

describe('WebSockets without connection_init', () => {
  test('of one /48 are limited over all its networks and tenants, and not those of others', async ({
    tenant,
    server,
  }) => {
    const site = `2001:db8:${randomBytes(2).toString('hex')}`
    const opened = await Promise.all(
      Array.from({ length: 120 }, (_, index) =>
        opensSocket(server.socketUrlOf(index % 2 ? tenant : 'system'), `${site}:${index.toString(16)}::1`),
      ),
    )
    expect(opened.filter(Boolean)).toHaveLength(100)
    expect(await opensSocket(server.socketUrlOf(tenant), newIp())).toBe(true)
  })

  test('are terminated when the peer does not answer their close frame', async ({
    tenant,
    server,
    openPeer,
    countConnections,
  }) => {
    const origin = new URL(server.urlOf(tenant)).origin
    const peers = await Promise.all(
      Array.from({ length: 40 }, () =>
        openPeer(origin, `/${tenant}/graphql`, { 'x-forwarded-for': newIp() }),
      ),
    )
    expect(peers.every(({ status }) => status === 101)).toBe(true)
    // Three seconds without connection_init, and two for the close frame.
    await expect.poll(countConnections, { timeout: 12_000 }).toBe(0)
  })
})
