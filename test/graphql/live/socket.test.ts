import { describe, expect, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createClient } from '../../../src/clients/clients.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { apiAudienceOf } from '../../../src/core/issuer.ts'
import { issueAccessToken } from '../../../src/oidc/token/access-tokens.ts'
import { tokenFor } from '../../support/actors.ts'
import type { GraphqlBody } from '../../support/app.ts'
import { liveBytes } from '../../support/heap.ts'
import { openSocket } from '../../support/streams.ts'
import { test as base } from '../../support/subscriptions.ts'

/** Opens WebSockets without a protocol client: `outcome` is `open` or the status of the rejected upgrade. */
const test = base.extend(
  'connect',
  ({ opened }) =>
    async (url: string, headers: Record<string, string> = {}) => {
      const socket = new WebSocket(url, 'graphql-transport-ws', { headers })
      opened.push({ close: () => socket.terminate() })
      // A rejected socket is terminated before it was open.
      socket.on('error', () => undefined)
      const closed = new Promise<number>((resolve) => socket.once('close', (code) => resolve(code)))
      const outcome = await new Promise<'open' | number>((resolve) => {
        socket.once('open', () => resolve('open'))
        socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
      })
      return { socket, closed, outcome }
    },
)

describe('a WebSocket', () => {
  test('that sends no connection_init within three seconds is closed with 4408', async ({
    tenant,
    server,
    connect,
  }) => {
    // Three seconds pass 20 times faster.
    const start = setTimeout
    const timers = vi
      .spyOn(globalThis, 'setTimeout')
      .mockImplementation(((run: () => void, ms?: number, ...rest: []) =>
        start(run, ms === 3000 ? ms / 20 : ms, ...rest)) as typeof setTimeout)
    onTestFinished(() => timers.mockRestore())
    const { closed } = await connect(server.socketUrlOf(tenant))
    expect(await closed).toBe(4408)
    expect(timers.mock.calls.map(([, ms]) => ms)).toContain(3000)
  })

  test.for([
    ['no token', {}, 4401],
    ['a malformed token', { authorization: 'Bearer nonsense' }, 4403],
    ['a token that is not a string', { authorization: 7 }, 4401],
  ])(
    'whose connection_init carries %s is closed',
    async ([_what, payload, code], { tenant, server, connect }) => {
      const { socket, closed } = await connect(server.socketUrlOf(tenant))
      socket.send(JSON.stringify({ type: 'connection_init', payload }))
      expect(await closed).toBe(code)
    },
  )

  test('of a page of another origin is rejected with 403 and recorded, and one of the own origin is accepted', async ({
    tenant,
    events,
    server,
    connect,
  }) => {
    const url = server.socketUrlOf(tenant)
    expect((await connect(url, { origin: 'https://evil.example' })).outcome).toBe(403)
    expect((await connect(url, { origin: 'null' })).outcome).toBe(403)
    await expect
      .poll(async () => (await events({ type: 'token.refused' })).map(({ detail }) => detail?.origin).sort())
      .toEqual(['https://evil.example', 'null'])
    expect((await connect(url, { origin: 'http://localhost:3000' })).outcome).toBe('open')
  })

  test('of an origin that a client lists is accepted with a token of that client only', async ({
    tenant,

    server,
    newSubscriber,
    connect,
  }) => {
    const origin = 'https://admin.example.com'
    const { client } = await createClient(createPlatformCtx(tenant), {
      name: 'Admin frontend',
      appType: 'single-page',
      type: 'login',
      allowedOrigins: [origin],
      scopes: ['users:read'],
    })
    const subject = await newSubscriber(['users:read'])
    const request = { subject: subject.userId, scopes: ['users:read'], audience: [apiAudienceOf(tenant)] }
    const own = await issueAccessToken(tenant, {
      ...request,
      clientId: client.id,
      lifetimeSeconds: 60,
      sessionId: subject.sessionId,
    })
    const url = server.socketUrlOf(tenant)
    // Connection parameters are written in either case, as headers are.
    const initialize = async (token: string) => {
      const { socket, closed } = await connect(url, { origin })
      const answered = new Promise<string>((resolve) =>
        socket.once('message', (text) => resolve(JSON.parse(String(text)).type)),
      )
      socket.send(JSON.stringify({ type: 'connection_init', payload: { Authorization: `Bearer ${token}` } }))
      return Promise.race([answered, closed])
    }
    expect(await initialize(own)).toBe('connection_ack')
    expect(await initialize(subject.token)).toBe(4403)
  })

  test('of an unknown tenant is rejected with 404', async ({ server, connect }) => {
    expect((await connect(server.socketUrlOf('no-such-tenant'))).outcome).toBe(404)
  })

  test('with another subprotocol is closed with 4406', async ({ tenant, server }) => {
    const socket = new WebSocket(server.socketUrlOf(tenant))
    expect(await new Promise((resolve) => socket.once('close', resolve))).toBe(4406)
  })

  test('is closed with 4403 when its token expires while it is idle', async ({ tenant, server, opened }) => {
    const client = openSocket(server.socketUrlOf(tenant), await tokenFor(tenant, ['users:read'], 2))
    opened.push({ close: () => void client.dispose() })
    const closed = new Promise<{ code: number }>((resolve) =>
      client.on('closed', (event) => resolve(event as { code: number })),
    )
    expect((await closed).code).toBe(4403)
  })

  test('keeps nothing of operations that a document does not have and that its client completes', async ({
    tenant,
    server,
    connect,
    token,
  }) => {
    const { socket } = await connect(server.socketUrlOf(tenant))
    const send = (message: object) => socket.send(JSON.stringify(message))
    const next = () => new Promise((resolve) => socket.once('message', resolve))
    send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } })
    await next()
    const query = `query A { viewer { scopes } } #${'x'.repeat(90_000)}`
    const before = liveBytes()
    for (let index = 0; index < 50; index += 1) {
      send({ type: 'subscribe', id: 'x', payload: { query, operationName: `B${index}` } })
      send({ type: 'complete', id: 'x' })
      send({ type: 'ping' })
      await next()
    }
    send({ type: 'subscribe', id: 'last', payload: { query: '{ viewer { scopes } }' } })
    await next()
    expect(liveBytes() - before).toBeLessThan(2_000_000)
  })

  test('executes queries with the same limits and errors as HTTP', async ({ tenant, server, opened }) => {
    const client = openSocket(server.socketUrlOf(tenant), await tokenFor(tenant, ['users:read']))
    opened.push({ close: () => void client.dispose() })
    const run = (query: string, variables?: Record<string, unknown>) =>
      new Promise<GraphqlBody>((resolve) => {
        client.subscribe(
          { query, variables },
          {
            next: (result) => resolve(result as GraphqlBody),
            error: (errors) => resolve({ errors: errors as GraphqlBody['errors'] }),
            complete: () => undefined,
          },
        )
      })
    expect((await run('{ users { totalSize } }')).data).toEqual({ users: { totalSize: expect.any(Number) } })
    expect((await run('{ tenant { id } }')).errors?.[0]).toMatchObject({
      message: 'Requires scope tenant:read.',
      extensions: { code: 'FORBIDDEN', requestId: expect.any(String) },
    })
    const aliases = Array.from({ length: 31 }, (_, index) => `a${index}: viewer { scopes }`).join(' ')
    expect((await run(`{ ${aliases} }`)).errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX')
    const costly =
      'query ($n: Int) { users(pageSize: $n) { nodes { sessions(first: $n) { nodes { id } } } } }'
    expect((await run(costly, { n: 1000 })).errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX')
    expect(
      (await run('query A { viewer { scopes } } query B { viewer { scopes } }')).errors?.[0]?.extensions.code,
    ).toBe('QUERY_TOO_COMPLEX')
    expect((await run('{ nonsense }')).errors?.[0]?.extensions).toMatchObject({
      code: 'GRAPHQL_VALIDATION_FAILED',
      requestId: expect.any(String),
    })
    expect((await run('{')).errors?.[0]?.extensions.requestId).toEqual(expect.any(String))
  })
})
