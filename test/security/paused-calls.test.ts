import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'
import { enterProtocol, takeTurn } from '../../src/core/turns.ts'
import { test as base } from '../support/fixtures.ts'

const PAUSE_MS = 400

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

describe('while the protocol is in use, a pause between turns delays', () => {
  test.for([
    ['GraphQL', '/graphql', { query: '{ viewer { scopes } }' }, 200],
    ['REST', '/api/v1/users', { name: 'Ada' }, 201],
  ] as const)('a call of %s whose body arrives in it', async ([_, path, body, expected], { sendInParts }) => {
    const { status, milliseconds } = await sendInParts(path, body)
    expect(status).toBe(expected)
    expect(milliseconds).toBeGreaterThan(PAUSE_MS / 2)
  })

  test('an operation over a WebSocket that arrives in it', async ({ app, tenant, token, startPause }) => {
    const url = `${app.origin.replace('http', 'ws')}/${tenant}/graphql`
    const socket = new WebSocket(url, 'graphql-transport-ws')
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
    await once(socket, 'message')
    const start = await startPause()
    socket.send(JSON.stringify({ id: 'a', type: 'subscribe', payload: { query: '{ viewer { scopes } }' } }))
    const [message] = await once(socket, 'message')
    expect(JSON.parse(String(message))).toMatchObject({ type: 'next', payload: { data: { viewer: {} } } })
    expect(performance.now() - start).toBeGreaterThan(PAUSE_MS / 2)
    socket.close()
  })
})
