import { describe, expect, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createUser } from '../../../src/users/users.ts'
import { ctxFor, newTenant, ownTokenFor } from '../../support/actors.ts'
import { test as base } from '../../support/fixtures.ts'
import { makeSpa } from '../../support/people.ts'
import { hasServices } from '../../support/services.ts'
import { type EventReader, openEventStream } from '../../support/streams.ts'
import { awaitVisible } from '../../support/subscriptions.ts'

// A caller may have two subscriptions and two sockets, a tenant twenty.
vi.hoisted(() => {
  process.env.SUBSCRIPTIONS = '100'
})
const QUERY = 'subscription { sessionChanged { __typename } }'
/** Sockets of one network that may wait for connection_init. */
const OPENING = 50

type Frame = { id?: string; type: string; payload?: object }

const test = base
  .extend('opened', async ({ app: _ }, { onCleanup }) => {
    const opened: { close: () => void }[] = []
    onCleanup(() => {
      for (const one of opened) one.close()
    })
    return opened
  })
  .extend('newUserToken', { scope: 'file' }, ({ tenant, ctx, spa }) => async () => {
    const { id } = await createUser(ctx, { name: 'Ada' })
    const token = await ownTokenFor(tenant, id, spa.id)
    await awaitVisible(tenant)
    return token
  })
  .extend('openStream', ({ app, tenant, opened }) => async (token: string): Promise<EventReader> => {
    const stream = await openEventStream(`${app.origin}/${tenant}/graphql`, token, QUERY)
    opened.push(stream)
    return stream
  })
  /** Opens a WebSocket; `status` is 101 or that of the rejection. */
  .extend('openSocket', ({ app, tenant, opened }) => async () => {
    const socket = new WebSocket(
      `${app.origin.replace('http', 'ws')}/${tenant}/graphql`,
      'graphql-transport-ws',
    )
    opened.push({ close: () => socket.terminate() })
    socket.on('error', () => undefined)
    const frames: Frame[] = []
    socket.on('message', (data) => frames.push(JSON.parse(String(data))))
    const closed = new Promise<{ code: number; reason: string }>((resolve) =>
      socket.once('close', (code, reason) => resolve({ code, reason: String(reason) })),
    )
    const opening = await new Promise<{ status: number; retryAfter?: string }>((resolve) => {
      socket.once('open', () => resolve({ status: 101 }))
      socket.once('unexpected-response', (_request, { statusCode = 0, headers }) =>
        resolve({ status: statusCode, retryAfter: headers['retry-after'] }),
      )
    })
    const send = (frame: object) => socket.send(JSON.stringify(frame))
    const init = (token: string) =>
      send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } })
    const find = (wanted: string) => expect.poll(() => frames.some(({ type }) => type === wanted)).toBe(true)
    return { ...opening, socket, frames, closed, send, init, find }
  })

describe.runIf(hasServices)('live subscriptions', () => {
  test('beyond the limit of a user are answered with 429 as an event stream, until one ends', async ({
    newUserToken,
    openStream,
  }) => {
    const token = await newUserToken()
    const streams = [await openStream(token), await openStream(token)]
    expect(streams.map(({ status }) => status)).toEqual([200, 200])
    const rejected = await openStream(token)
    expect(rejected.status).toBe(429)
    expect(rejected.headers.get('retry-after')).toBe('10')
    expect((await openStream(await newUserToken())).status).toBe(200)
    streams[0]?.close()
    await expect.poll(async () => (await openStream(token)).status).toBe(200)
  })

  test('of clients that accept no event stream are answered with 406, and do not count', async ({
    app,
    tenant,
    newUserToken,
    openStream,
  }) => {
    const token = await newUserToken()
    for (let index = 0; index < 5; index += 1) {
      const headers = { accept: 'multipart/mixed' }
      const rejected = await openEventStream(`${app.origin}/${tenant}/graphql`, token, QUERY, {}, headers)
      expect([rejected.status, rejected.headers.get('accept')]).toEqual([406, 'text/event-stream'])
    }
    expect((await openStream(token)).status).toBe(200)
  })

  test('beyond the limit of a user are rejected on a WebSocket, where event streams count too', async ({
    newUserToken,
    openStream,
    openSocket,
  }) => {
    const token = await newUserToken()
    await openStream(token)
    const { send, init, find, frames } = await openSocket()
    init(token)
    await find('connection_ack')
    for (const id of ['one', 'two']) send({ type: 'subscribe', id, payload: { query: QUERY } })
    await expect.poll(() => frames.filter(({ type }) => type === 'next')).toHaveLength(1)
    expect(frames.find(({ type }) => type === 'next')?.payload).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMITED', retryAfterSeconds: 10 } }],
    })
  })

  test('beyond the limit of a tenant are rejected for its next user, and not for another tenant', async ({
    app,
    opened,
    systemToken,
  }) => {
    const crowded = await newTenant()
    const ctx = await ctxFor(crowded)
    const client = await makeSpa(crowded)
    const statuses: number[] = []
    for (let index = 0; index < 11; index += 1) {
      const { id } = await createUser(ctx, { name: `User ${index}` })
      const token = await ownTokenFor(crowded, id, client.id)
      for (let round = 0; round < 2 && statuses.length < 21; round += 1) {
        const stream = await openEventStream(`${app.origin}/${crowded}/graphql`, token, QUERY)
        opened.push(stream)
        statuses.push(stream.status)
      }
    }
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 429])
    const stream = await openEventStream(
      `${app.origin}/system/graphql`,
      systemToken,
      'subscription { events { id } }',
    )
    opened.push(stream)
    expect(stream.status).toBe(200)
  })
})

describe.runIf(hasServices)('WebSockets', () => {
  test('beyond the limit of a user are closed with 4420 and a reason', async ({
    newUserToken,
    openSocket,
  }) => {
    const token = await newUserToken()
    for (let index = 0; index < 2; index += 1) {
      const { init, find } = await openSocket()
      init(token)
      await find('connection_ack')
    }
    const { init, closed } = await openSocket()
    init(token)
    expect(await closed).toEqual({
      code: 4420,
      reason: 'Too many WebSockets: 2 may be open at once for one caller.',
    })
  })

  test('that are closed while their token is checked count no longer', async ({
    newUserToken,
    openSocket,
  }) => {
    const token = await newUserToken()
    for (let index = 0; index < 6; index += 1) {
      const { socket, init, closed } = await openSocket()
      init(token)
      socket.terminate()
      await closed
    }
    const sockets = [await openSocket(), await openSocket()]
    for (const { init } of sockets) init(token)
    for (const { frames } of sockets)
      await expect.poll(() => frames.map(({ type }) => type)).toEqual(['connection_ack'])
  })

  test('of one network that have sent no connection_init are limited, and answered with 429 beyond', async ({
    newUserToken,
    openSocket,
  }) => {
    const accepted = await openSocket()
    accepted.init(await newUserToken())
    await accepted.find('connection_ack')
    const sockets = await Promise.all(Array.from({ length: OPENING + 5 }, () => openSocket()))
    expect(sockets.filter(({ status }) => status === 101)).toHaveLength(OPENING)
    const rejected = sockets.filter(({ status }) => status === 429)
    expect(rejected.map(({ retryAfter }) => retryAfter)).toEqual(Array.from({ length: 5 }, () => '10'))
    // They are closed after three seconds, and count no longer.
    await Promise.all(sockets.filter(({ status }) => status === 101).map(({ closed }) => closed))
    expect((await openSocket()).status).toBe(101)
  })
})
