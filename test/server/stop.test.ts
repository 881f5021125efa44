import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'

describe('a server that stops', () => {
  test('answers a request that was being received, and closes its connection', async () => {
    const app = await createApp()
    const { port } = await app.listen(0)
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write('GET /health/live HTTP/1.1\r\n')
    // The server has received the part of the request once it has answered a later one.
    await (await fetch(`http://127.0.0.1:${port}/health/live`)).text()
    const closed = app.close()
    socket.write('Host: localhost\r\n\r\n')
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer).toMatch(/\r\nconnection: close\r\n/i)
    await closed
  })
})
