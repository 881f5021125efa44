import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test as base, describe, expect, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { OpenAnswer } from '../../../src/coordination/answers.ts'
import { closeSlowSockets, endAnswer, holdAnswer } from '../../../src/graphql/live/socket-answers.ts'

/** More than the operating systems of both sides take of what is not read. */
const LARGE_BYTES = 14_000_000

/** `test` with a socket whose client reads nothing until it is resumed. */
const test = base.extend<{ pair: { socket: WebSocket; client: WebSocket } }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the pattern
  pair: async ({}, use) => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const [[socket]] = await Promise.all([once(server, 'connection'), once(client, 'open')])
    client.pause()
    await use({ socket, client })
    vi.useRealTimers()
    client.terminate()
    server.close()
  },
})

describe('a socket with more than 1 MB unread', () => {
  test('stays open while it sends an answer that is counted for its caller', ({ pair: { socket } }) => {
    const [message, answer] = [{}, new OpenAnswer(createPlatformCtx('sockets'))]
    answer.growTo(LARGE_BYTES, false)
    holdAnswer(socket, message, answer)
    socket.send('x'.repeat(LARGE_BYTES))
    closeSlowSockets([socket])
    expect(socket.readyState).toBe(WebSocket.OPEN)
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    endAnswer(socket, message)
    closeSlowSockets([socket])
    expect(socket.readyState).toBe(WebSocket.CLOSING)
  })

  test('is closed with 4413 for anything else', async ({ pair: { socket, client } }) => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    closeSlowSockets([socket])
    expect(socket.readyState).toBe(WebSocket.OPEN)
    socket.send('x'.repeat(LARGE_BYTES))
    closeSlowSockets([socket])
    const closed = once(client, 'close')
    client.resume()
    expect(await closed).toEqual([4413, Buffer.from('Too slow; resume from your position')])
  })
})
