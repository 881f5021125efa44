import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'
import { createUser } from '../../src/users/users.ts'
import { test as base } from '../support/fixtures.ts'
import { openEventStream } from '../support/streams.ts'

const test = base
  /** Streams and sockets to close after the test. */
  .extend('opened', async ({ app: _ }, { onCleanup }) => {
    const opened: { close: () => void }[] = []
    onCleanup(() => {
      for (const one of opened) one.close()
    })
    return opened
  })
  /** Opens a WebSocket with these headers; returns the status of the upgrade. */
  .extend('upgrade', ({ app, tenant, opened }) => (origin: string | undefined, host?: string) => {
    const url = `${app.origin.replace('http', 'ws')}/${tenant}/graphql`
    const headers = { ...(origin !== undefined && { origin }), ...(host && { host }), cookie: 'vst_sid=x' }
    return new Promise<number>((resolve) => {
      const socket = new WebSocket(url, 'graphql-transport-ws', { headers })
      opened.push({ close: () => socket.terminate() })
      socket.on('open', () => resolve(101))
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
      socket.on('error', () => undefined)
    })
  })

describe('a server-sent event', () => {
  test('carries line breaks of stored values as JSON escapes', async ({
    app,
    tenant,
    token,
    ctx,
    rest,
    opened,
  }) => {
    const text = 'x\r\n\r\nevent: next\ndata: {"data":"forged"}\r\rid: 6\u2028\u2029\u0085end'
    const user = await createUser(ctx, { name: text, userMetadata: { [text]: text } })
    const query = `subscription { userLockChanged { ... on UserLockEvent { user { name userMetadata } } } }`
    const response = await fetch(`${app.origin}/${tenant}/graphql`, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        'x-request-id': 'a-request-id-of-ours',
        authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({ query }),
    })
    const reader = response.body?.getReader()
    opened.push({ close: () => void reader?.cancel() })
    const decoder = new TextDecoder()
    let received = decoder.decode((await reader?.read())?.value)
    await rest('PATCH', `/users/${user.id}`, { locked: true })
    while (!received.includes('data:'))
      received += decoder.decode((await reader?.read())?.value, { stream: true })
    expect(received).not.toContain('\r')
    const lines = received.split('\n')
    for (const line of lines) expect(line).toMatch(/^(:|id: [\w-]+|event: next|data: \{[^\r\n]*\}|)$/)
    const data = lines.filter((line) => line.startsWith('data: '))
    expect(data).toHaveLength(1)
    expect(JSON.parse(data[0]?.slice(6) ?? '').data.userLockChanged.user).toEqual({
      name: text,
      userMetadata: { [text]: text },
    })
  })

  test.for(['6 evil', '6:evil', 'data: evil', '%0aevil', 'MS4xLjEK'])(
    'reports BAD_USER_INPUT for Last-Event-ID %j and does not repeat the value',
    async (id, { app, tenant, token, opened }) => {
      const stream = await openEventStream(
        `${app.origin}/${tenant}/graphql`,
        token,
        'subscription { events { id } }',
        {},
        { 'last-event-id': id },
      )
      opened.push(stream)
      const event = await stream.next()
      expect(JSON.stringify([event, stream.lastEventId()])).not.toContain(id)
      expect(event?.data?.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
    },
  )
})

describe('the upgrade to a WebSocket', () => {
  test.for([
    'https://evil.example',
    'null',
    'http://localhost:3000.evil.example',
    'http://evil-localhost:3000',
    'https://localhost:3000',
    'http://localhost',
    'http://localhost:3001',
    'http://localhost:3000/',
    'http://LOCALHOST:3000',
    'http://127.0.0.1:3000',
    'file://',
  ])('rejects Origin %s, also with an equal Host', async (origin, { upgrade }) => {
    expect(await upgrade(origin)).toBe(403)
    if (URL.canParse(origin) && new URL(origin).host)
      expect(await upgrade(origin, new URL(origin).host)).toBe(403)
  })

  test('accepts the origin of BASE_URL, and a request without Origin', async ({ upgrade }) => {
    expect(await upgrade('http://localhost:3000')).toBe(101)
    expect(await upgrade(undefined)).toBe(101)
  })
})
