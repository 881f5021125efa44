import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, onTestFinished } from 'vitest'
import { test as base } from '../support/fixtures.ts'

/** Opens a connection. `send` resolves with the answer, as soon as its body has come. */
const test = base.extend('open', ({ app }) => () => {
  const socket = connect(Number(new URL(app.origin).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  return {
    send: async (...lines: string[]) => {
      socket.write(lines.join('\r\n'))
      let answer = ''
      while (!/\r\n\r\n./.test(answer)) answer += (await once(socket, 'data'))[0]
      return answer
    },
    /** Resolves with all that the server sends, until it closes the connection. */
    sendAll: async (...lines: string[]) => {
      socket.write(lines.join('\r\n'))
      let answers = ''
      for await (const data of socket) answers += data
      return answers
    },
  }
})

const H2C = ['Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']

describe('a request that asks for another protocol than WebSocket (RFC 9110, section 7.8)', () => {
  test.for<[what: string, headers: string[]]>([
    ['HTTP/2', ['Connection: Upgrade, HTTP2-Settings', ...H2C]],
    ['TLS', ['Connection: keep-alive, upgrade', 'Upgrade: TLS/1.0, HTTP/1.1']],
  ])('is answered over HTTP/1.1, and so are those that follow, for %s', async ([, headers], { open }) => {
    const { send } = open()
    for (const own of [headers, headers, []]) {
      const answer = await send('GET /health/live HTTP/1.1', 'Host: localhost', ...own, '', '')
      expect(answer).toMatch(/^HTTP\/1\.1 200 /)
      expect(answer).toContain('{"status":"live"}')
    }
  })

  test('keeps its body', async ({ open, tenant, token }) => {
    const body = '{"query":"{ viewer { scopes } }"}'
    const answer = await open().send(
      `POST /${tenant}/graphql HTTP/1.1`,
      'Host: localhost',
      'Connection: Upgrade, HTTP2-Settings',
      ...H2C,
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      body,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer).toContain('"viewer":{"scopes":[')
  })

  test('is answered after the requests before it', async ({ open, tenant }) => {
    const answers = await open().sendAll(
      `GET /${tenant}/.well-known/openid-configuration HTTP/1.1`,
      'Host: localhost',
      '',
      'GET /health/live HTTP/1.1',
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: h2c',
      '',
      'GET /health/live HTTP/1.1',
      'Host: localhost',
      'Connection: Upgrade, close',
      'Upgrade: h2c',
      '',
      '',
    )
    expect(answers.match(/HTTP\/1\.1 200 |"issuer"|"live"/g)).toEqual([
      'HTTP/1.1 200 ',
      '"issuer"',
      'HTTP/1.1 200 ',
      '"live"',
      'HTTP/1.1 200 ',
      '"live"',
    ])
  })

  test('is rejected when it has more headers than Node keeps, and its body is not read as a request', async ({
    open,
  }) => {
    const hidden = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    const answers = await open().sendAll(
      'GET /health/live HTTP/1.1',
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: h2c',
      ...Array.from({ length: 1100 }, () => 'a: b'),
      `Content-Length: ${hidden.length}`,
      '',
      hidden,
    )
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 431'])
  })
})
