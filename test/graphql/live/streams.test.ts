import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'
import type { Ctx } from '../../../src/context/context.ts'
import { recordEvents } from '../../../src/events/log.ts'
import { revokeSession } from '../../../src/sessions/revoke-sessions.ts'
import { setUserRoles } from '../../../src/users/roles.ts'
import { createUser } from '../../../src/users/users.ts'
import { serveGraphql } from '../../support/graphql-server.ts'
import { openEventStream, openSocket } from '../../support/streams.ts'
import { EVENTS, NUMBERS, SESSIONS, test } from '../../support/subscriptions.ts'

/** Records events of half a megabyte together, as often as `times` says. */
async function recordLargeEvents(ctx: Ctx, times: number): Promise<void> {
  const event = {
    type: 'consent.granted' as const,
    subjectIds: ['x'.repeat(5000)],
    detail: { scope: 'openid' },
  }
  await ctx.db.transaction(async (tx) => {
    for (let index = 0; index < times; index += 1)
      await recordEvents(
        tx,
        ctx,
        Array.from({ length: 100 }, () => event),
      )
  })
}

/**
 * Records events until an unread response is sent no further, because the buffers between server and client are full:
 * the kernel decides how much they hold.
 */
async function recordUntilFull(ctx: Ctx, { socket }: ServerResponse): Promise<void> {
  const countSent = () => (socket?.bytesWritten ?? 0) - (socket?.writableLength ?? 0)
  for (let before = -1; !socket?.writableLength || countSent() !== before; await sleep(500)) {
    before = countSent()
    if (!socket?.writableLength) await recordLargeEvents(ctx, 10)
  }
}

/** How long a client may take to read the end of its stream. */
const DRAIN_SECONDS = 5

describe('an event stream', () => {
  test('whose end is not read is closed five seconds after its session has ended', {
    timeout: 60_000,
  }, async ({ tenant, ctx, server, headPosition, newClient, newSubscriber }) => {
    const { id: clientId } = await newClient({ scopes: ['events:read', 'account'] })
    const { userId, sessionId, token } = await newSubscriber(['events:read'], clientId)
    await setUserRoles(ctx, userId, { roles: ['auditor'] })
    const after = await headPosition()
    const answered = once(server.server, 'request') as Promise<[IncomingMessage, ServerResponse]>
    const sent = request(server.urlOf(tenant), {
      method: 'POST',
      agent: false,
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
      },
    })
    sent.end(JSON.stringify({ query: EVENTS, variables: { after } }))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const [, served] = await answered
    await recordUntilFull(ctx, served)
    const closed = once(served, 'close')
    const ended = performance.now()
    await revokeSession(ctx, sessionId)
    await closed
    expect(performance.now() - ended).toBeGreaterThan((DRAIN_SECONDS - 1) * 1000)
    // The text of the response is too long for the report of a failure.
    await expect(text(response).then(({ length }) => length)).rejects.toThrow('aborted')
  })

  test('is not delayed by clients that have stopped reading', async ({
    tenant,
    token,
    ctx,
    server,
    startApiSession,
    opened,
    follow,
  }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const stalled = new WebSocket(server.socketUrlOf(tenant), 'graphql-transport-ws')
    opened.push({ close: () => stalled.terminate() })
    await new Promise((resolve) => stalled.once('open', resolve))
    stalled.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
    await new Promise((resolve) => stalled.once('message', resolve))
    stalled.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: EVENTS } }))
    stalled.pause()
    const stalledStream = await follow(EVENTS, {})
    const reader = await follow(SESSIONS, { userId, kinds: ['STARTED'] })
    await recordLargeEvents(ctx, 20)
    const sessionId = await startApiSession(userId)
    // The stalled clients still read nothing.
    expect((await reader.next())?.data?.data.sessionChanged.sessionId).toBe(sessionId)
    stalledStream.close()
  })
})

describe('a server that stops', () => {
  test('closes sockets with 1001 and ends event streams with UNAVAILABLE', async ({ tenant, token }) => {
    const stopping = await serveGraphql()
    const client = openSocket(stopping.socketUrlOf(tenant), token)
    const closed = new Promise<{ code: number }>((resolve) =>
      client.on('closed', (event) => resolve(event as { code: number })),
    )
    await new Promise((resolve) => client.on('connected', resolve))
    const reader = await openEventStream(stopping.urlOf(tenant), token, EVENTS, NUMBERS)
    const last = reader.next()
    await stopping.close()
    expect((await closed).code).toBe(1001)
    expect((await last)?.data?.errors?.[0]?.extensions.code).toBe('UNAVAILABLE')
  })
})
