import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { isProtocolActive } from '../../src/core/turns.ts'
import { test } from '../support/fixtures.ts'
import { collectUncaught } from '../support/uncaught.ts'

const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
const lines = (...parts: string[]) => `${parts.join('\r\n')}\r\n\r\n`
const FORM = ['Host: localhost', 'Content-Type: application/x-www-form-urlencoded', 'Content-Length: 100']

/** What a peer sends before it resets the connection; `T` is the tenant. */
const STARTS: [string, string][] = [
  ['nothing', ''],
  ['half of a header', 'GET /T/oidc/authorize HTTP/1.1\r\nHost: local'],
  ['a request', lines('GET /T/.well-known/openid-configuration HTTP/1.1', 'Host: localhost')],
  ['half of a form', `${lines('POST /T/oidc/token HTTP/1.1', ...FORM)}grant_type=`],
  ['half of an operation', `${lines('POST /T/graphql HTTP/1.1', ...FORM)}{"query":`],
  ['half of a REST body', `${lines('POST /T/api/v1/users HTTP/1.1', ...FORM)}{"name":`],
  ['an upgrade', lines('GET /T/graphql HTTP/1.1', 'Host: localhost', ...UPGRADE, KEY)],
  ['an upgrade without a key', lines('GET /T/graphql HTTP/1.1', 'Host: localhost', ...UPGRADE)],
  [
    'an upgrade of an unknown tenant',
    lines('GET /nobody/graphql HTTP/1.1', 'Host: localhost', ...UPGRADE, KEY),
  ],
  ['an upgrade elsewhere', lines('GET /T/oidc/token HTTP/1.1', 'Host: localhost', ...UPGRADE, KEY)],
  ['a method for proxies', lines('CONNECT localhost:1 HTTP/1.1', 'Host: localhost')],
  ['bytes that are not HTTP', '\u0016\u0003\u0001\u0000\u0000'],
]

describe('a connection that its peer resets', () => {
  test.for(STARTS)('does not end the process after %s', async ([, start], { app, tenant }) => {
    const uncaught = collectUncaught()
    for (const pauseMs of [0, 0, 1, 3, 20]) {
      const socket = connect(Number(new URL(app.origin).port), '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'connect')
      if (start) socket.write(start.replaceAll('/T/', `/${tenant}/`))
      if (pauseMs > 0) await sleep(pauseMs)
      socket.resetAndDestroy()
    }
    await sleep(20)
    expect((await app.fetch('/health/live')).status).toBe(200)
    expect(uncaught).toEqual([])
  })
})

test('a connection that its peer closes frees what a request holds that waits behind another one', async ({
  app,
  tenant,
  token,
}) => {
  const socket = connect(Number(new URL(app.origin).port), '127.0.0.1')
  const body = '{"query":"subscription { events { __typename } }"}'
  socket.write(
    lines(
      `POST /${tenant}/graphql HTTP/1.1`,
      'Host: localhost',
      'Accept: text/event-stream',
      'Content-Type: application/json',
      `Authorization: Bearer ${token}`,
      `Content-Length: ${body.length}`,
    ) +
      body +
      lines(`GET /${tenant}/.well-known/openid-configuration HTTP/1.1`, 'Host: localhost'),
  )
  expect(String((await once(socket, 'data'))[0])).toContain('text/event-stream')
  expect(isProtocolActive()).toBe(true)
  socket.destroy()
  await expect.poll(isProtocolActive).toBe(false)
})
