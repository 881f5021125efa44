import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'
import { enterProtocol, takeTurn } from '../../src/core/turns.ts'
import { test as base } from '../support/fixtures.ts'

const PAUSE_MS = 400
const PAYLOAD = { query: '{ viewer { scopes } }' }

const test = base
  /** Takes a long turn while the protocol is in use: a pause of the same length follows. Returns its start. */
  .extend('startPause', ({ tenant }, { onCleanup }) => async () => {
    onCleanup(enterProtocol())
    await takeTurn({ tenant, workload: 'change' })
    const start = performance.now() + PAUSE_MS
    while (performance.now() < start);
    return start
  })
  /** Sends the headers of a request, and its body in the pause. Returns its status and the time until then. */
  .extend('sendInParts', ({ app, tenant, token, startPause }) => async (path: string, body: object) => {
    const sent = request(`${app.origin}/${tenant}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
    sent.flushHeaders()
    await sleep(100)
    const start = await startPause()
    sent.end(JSON.stringify(body))
    const [response] = await once(sent, 'response')
    response.resume()
    return { status: response.statusCode, milliseconds: performance.now() - start }
  })
  /** Opens an authenticated WebSocket without a protocol client. */
  .extend('openSocket', ({ app, tenant, token }, { onCleanup }) => async () => {
    const url = `${app.origin.replace('http', 'ws')}/${tenant}/graphql`
    const socket = new WebSocket(url, 'graphql-transport-ws')
    onCleanup(() => socket.terminate())
    const send = (message: object) => socket.send(JSON.stringify(message))
    const receive = async () => JSON.parse(String((await once(socket, 'message'))[0]))
    await once(socket, 'open')
    send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } })
    await receive()
    return { send, receive }
  })

describe('while the protocol is in use, a pause between turns delays', () => {
  test.for([
    ['GraphQL', '/graphql', PAYLOAD, 200],
    ['REST', '/api/v1/users', { name: 'Ada' }, 201],
  ] as const)('a call of %s whose body arrives in it', async ([_, path, body, expected], { sendInParts }) => {
    const { status, milliseconds } = await sendInParts(path, body)
    expect(status).toBe(expected)
    expect(milliseconds).toBeGreaterThan(PAUSE_MS / 2)
  })

  test('an operation over a WebSocket that arrives in it', async ({ openSocket, startPause }) => {
    const { send, receive } = await openSocket()
    const start = await startPause()
    send({ id: 'a', type: 'subscribe', payload: PAYLOAD })
    expect(await receive()).toMatchObject({ id: 'a', type: 'next', payload: { data: { viewer: {} } } })
    expect(performance.now() - start).toBeGreaterThan(PAUSE_MS / 2)
  })
})

describe('operations that wait for their turns', () => {
  test('are at most 100 of a WebSocket, also when the client completes them', async ({
    openSocket,
    startPause,
  }) => {
    const { send, receive } = await openSocket()
    const start = await startPause()
    for (let id = 0; id < 100; id += 1) {
      send({ id: String(id), type: 'subscribe', payload: PAYLOAD })
      send({ id: String(id), type: 'complete' })
    }
    send({ id: 'last', type: 'subscribe', payload: PAYLOAD })
    expect(await receive()).toMatchObject({
      id: 'last',
      type: 'error',
      payload: [{ extensions: { code: 'RATE_LIMITED', requestId: expect.stringMatching(/./) } }],
    })
    expect(performance.now() - start).toBeLessThan(PAUSE_MS / 2)
  })
})
