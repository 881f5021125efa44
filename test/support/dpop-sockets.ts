import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { createClient } from 'graphql-ws'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import { test as base } from './dpop-resources.ts'

export const toCreateMutation = (email: string) =>
  `mutation { createUser(input: { fields: { email: "${email}" } }) { __typename } }`
/** A masked frame (RFC 6455, section 5.2) of up to 64 KB: text, or close. */
function frame(opcode: 1 | 8, text = ''): Buffer {
  const [mask, body, long] = [randomBytes(4), Buffer.from(text), Buffer.alloc(2)]
  long.writeUInt16BE(body.length)
  const length = body.length < 126 ? [Buffer.from([0x80 | body.length])] : [Buffer.from([0x80 | 126]), long]
  const masked = body.map((byte, index) => byte ^ (mask[index % 4] as number))
  return Buffer.concat([Buffer.from([0x80 | opcode]), ...length, mask, masked])
}

/** `test` with WebSocket clients of the GraphQL endpoint that present tokens with DPoP proofs. */
export const test = base
  .extend(
    'prove',
    { scope: 'file' },
    ({ keys, proveFor }) =>
      (claims: object = {}, by = keys.key) =>
        proveFor('GET', '/graphql', claims, by),
  )
  /** Connects; resolves when the connection is acknowledged or closed. */
  .extend(
    'open',
    { scope: 'file' },
    ({ app, tenant }) =>
      async (connectionParams: Record<string, unknown>) => {
        const client = createClient({
          url: `${app.origin.replace('http', 'ws')}/${tenant}/graphql`,
          webSocketImpl: WebSocket,
          retryAttempts: 0,
          lazy: false,
          onNonLazyError: () => undefined,
          connectionParams,
        })
        const outcome = await new Promise<{ code: number; reason: string }>((resolve) => {
          client.on('connected', () => resolve({ code: 101, reason: '' }))
          client.on('closed', (event) => resolve(event as { code: number; reason: string }))
        })
        return { client, code: outcome.code, reason: outcome.reason }
      },
  )
  .extend('opened', { scope: 'file' }, ({ open }) => async (params: Record<string, unknown>) => {
    const { client, ...outcome } = await open(params)
    await client.dispose()
    return outcome
  })
  /** Sends operations after the server has closed the socket; returns the close code. */
  .extend(
    'insist',
    { scope: 'file' },
    ({ app, tenant }) =>
      async (params: object, origin: string | null, email: string): Promise<number> => {
        const socket = connect(Number(new URL(app.origin).port), '127.0.0.1')
        const lines = [
          `GET /${tenant}/graphql HTTP/1.1`,
          'Host: localhost',
          'Connection: Upgrade',
          'Upgrade: websocket',
          'Sec-WebSocket-Version: 13',
          `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
          'Sec-WebSocket-Protocol: graphql-transport-ws',
          ...(origin ? [`Origin: ${origin}`] : []),
        ]
        socket.write(`${lines.join('\r\n')}\r\n\r\n`)
        const [opened] = await once(socket, 'data')
        expect(String(opened)).toContain(' 101 ')
        socket.write(frame(1, JSON.stringify({ type: 'connection_init', payload: params })))
        const [closing] = (await once(socket, 'data')) as [Buffer]
        expect(closing[0]).toBe(0x88)
        const query = toCreateMutation(email)
        for (const id of ['1', '2'])
          socket.write(frame(1, JSON.stringify({ type: 'subscribe', id, payload: { query } })))
        socket.end(frame(8))
        await once(socket.resume(), 'close')
        return closing.readUInt16BE(2)
      },
  )
  .extend(
    'usersNamed',
    { scope: 'file' },
    ({ app, tenant, bearer }) =>
      async (email: string) =>
        (await app.rest(tenant, bearer, 'GET', `/users?email=${email}`)).body.users,
  )
