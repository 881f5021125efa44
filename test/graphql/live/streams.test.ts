import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'
import { inTransaction } from '../../../src/database/db.ts'
import { recordEvents, wakeReaders } from '../../../src/events/log.ts'
import { createUser } from '../../../src/users/users.ts'
import { serveGraphql } from '../../support/graphql-server.ts'
import { openEventStream, openSocket } from '../../support/streams.ts'
import { EVENTS, NUMBERS, SESSIONS, test } from '../../support/subscriptions.ts'

describe('an event stream', () => {
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
    const padding = 'x'.repeat(5000)
    await inTransaction(async (sql) => {
      for (let index = 0; index < 20; index++)
        await recordEvents(
          sql,
          ctx,
          Array.from({ length: 100 }, () => ({
            type: 'consent.granted' as const,
            subjectIds: [padding],
            detail: { scope: 'openid' },
          })),
        )
    })
    wakeReaders(tenant)
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
