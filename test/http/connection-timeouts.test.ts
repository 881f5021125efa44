import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { TIMEOUTS_MS } from '../../src/http/connection-timeouts.ts'
import { test as base } from '../support/fixtures.ts'

/** The limits pass at a thirtieth of their time. */
const FACTOR = 30
/** Far more than a limit, far less than the limits of Node. */
const PATIENCE_MS = 8000

const test = base
  .extend('shortTimeouts', { auto: true }, async ({ app: _ }, { onCleanup }) => {
    const original = { ...TIMEOUTS_MS }
    TIMEOUTS_MS.body /= FACTOR
    TIMEOUTS_MS.reading /= FACTOR
    onCleanup(() => {
      Object.assign(TIMEOUTS_MS, original)
    })
    return original
  })
  /** Opens a connection and sends this text; `closed` resolves with what was received. */
  .extend('open', ({ app }, { onCleanup }) => {
    const sockets: Socket[] = []
    onCleanup(() => {
      for (const socket of sockets) socket.destroy()
    })
    return (text: string, { reads = true } = {}) => {
      const socket = connect(Number(new URL(app.origin).port), '127.0.0.1')
      sockets.push(socket)
      let received = ''
      if (reads) socket.on('data', (data) => (received += data))
      else socket.pause()
      const closed = new Promise<string>((resolve) => {
        socket.on('error', () => undefined)
        socket.once('close', () => resolve(received))
      })
      socket.write(text)
      return { socket, closed, received: () => received }
    }
  })

const isClosed = (closed: Promise<unknown>): Promise<boolean> =>
  Promise.race([closed.then(() => true), sleep(PATIENCE_MS, false)])

const head = (method: string, path: string, headers: string[]): string =>
  [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n')

describe('a connection', () => {
  test.for([
    ['the token endpoint', (tenant: string) => `/${tenant}/oidc/token`, 'application/x-www-form-urlencoded'],
    ['GraphQL', (tenant: string) => `/${tenant}/graphql`, 'application/json'],
    ['REST', (tenant: string) => `/${tenant}/api/v1/users`, 'application/json'],
  ] as const)(
    'whose body trickles to %s is answered with 408 and closed',
    async ([_what, toPath, type], { tenant, token, open }) => {
      const { socket, closed } = open(
        head('POST', toPath(tenant), [
          `Content-Type: ${type}`,
          `Authorization: Bearer ${token}`,
          'Content-Length: 60000',
        ]),
      )
      const trickle = setInterval(() => socket.write(' '), 50)
      const started = performance.now()
      const received = await closed
      clearInterval(trickle)
      expect(received).toMatch(/^HTTP\/1\.1 408 /)
      expect(performance.now() - started).toBeLessThan(PATIENCE_MS)
    },
  )

  test('whose body arrives in time is answered', async ({ tenant, token, open }) => {
    const body = JSON.stringify({ query: '{ viewer { scopes } }' })
    const { socket, received } = open(
      head('POST', `/${tenant}/graphql`, [
        'Content-Type: application/json',
        `Authorization: Bearer ${token}`,
        `Content-Length: ${body.length}`,
      ]),
    )
    await sleep(100)
    socket.write(body)
    await expect.poll(received).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('whose client does not read its response is closed', async ({ tenant, token, create, open }) => {
    for (let index = 0; index < 20; index += 1)
      await create('/users', { name: `Person ${index}`, userMetadata: { text: 'x'.repeat(60_000) } })
    // Far more responses than the buffers of both ends take.
    const request = head('GET', `/${tenant}/api/v1/users?pageSize=1000`, [`Authorization: Bearer ${token}`])
    const { closed, socket } = open(request.repeat(12), { reads: false })
    // The close of a peer is noticed only by writing.
    const poke = setInterval(() => socket.write('\r\n'), 200)
    expect(await isClosed(closed)).toBe(true)
    clearInterval(poke)
  })

  test('has 16 requests at most whose responses are not sent, and is closed beyond', async ({ open }) => {
    const request = head('GET', '/health/live', [])
    const { received } = open(request.repeat(16))
    await expect.poll(() => received().split('HTTP/1.1 200 ').length - 1).toBe(16)
    expect(await isClosed(open(request.repeat(17)).closed)).toBe(true)
  })

  test('has 15 s for headers, for a body and for reading, a stream 60 s of inactivity, the rest of a body 2 s, and the next request 75 s', ({
    shortTimeouts,
  }) => {
    expect(shortTimeouts).toEqual({
      headers: 15_000,
      body: 15_000,
      reading: 15_000,
      idle: 60_000,
      keepAlive: 75_000,
      linger: 2000,
    })
  })
})

test('a connection is kept longer than load balancers reuse it, which keep it for 60 s', async ({ app }) => {
  const { headers } = await app.fetch('/health/live')
  const [, seconds] = /^timeout=(\d+)$/.exec(headers.get('keep-alive') ?? '') ?? []
  expect(Number(seconds)).toBeGreaterThan(60)
})
