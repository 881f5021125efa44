import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { createClient } from 'graphql-ws'
import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'
import { test as base } from '../support/dpop-resources.ts'
import type { ClientKey } from '../support/proofs.ts'

const toCreateMutation = (email: string) =>
  `mutation { createUser(input: { email: "${email}" }) { __typename } }`
/** A masked frame (RFC 6455, section 5.2) of up to 64 KB: text, or close. */
function frame(opcode: 1 | 8, text = ''): Buffer {
  const [mask, body, long] = [randomBytes(4), Buffer.from(text), Buffer.alloc(2)]
  long.writeUInt16BE(body.length)
  const length = body.length < 126 ? [Buffer.from([0x80 | body.length])] : [Buffer.from([0x80 | 126]), long]
  const masked = body.map((byte, index) => byte ^ (mask[index % 4] as number))
  return Buffer.concat([Buffer.from([0x80 | opcode]), ...length, mask, masked])
}

/** `test` with WebSocket clients of the GraphQL endpoint that present tokens with DPoP proofs. */
const test = base
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

/** What the parameters of a table are made with. */
type Use = {
  bound: string
  bearer: string
  prove: (claims?: object, by?: ClientKey) => Promise<string>
  otherKey: ClientKey
  urlOf: (path: string) => string
}

describe('a WebSocket (RFC 9449)', () => {
  test('accepts a bound token with a proof of its handshake for all its operations', async ({
    bound,
    prove,
    open,
  }) => {
    const { client, code } = await open({ authorization: `DPoP ${bound}`, dpop: await prove() })
    expect(code).toBe(101)
    for (let operation = 0; operation < 3; operation++) {
      const { value } = await client.iterate({ query: '{ users { page } }' }).next()
      expect(value).toMatchObject({ data: { users: { page: 0 } } })
    }
    await client.dispose()
  })

  test('rejects a proof that was used before', async ({ bound, prove, opened }) => {
    const params = { authorization: `DPoP ${bound}`, dpop: await prove() }
    expect(await opened(params)).toMatchObject({ code: 101 })
    expect(await opened(params)).toMatchObject({ code: 4403, reason: expect.stringContaining('proof') })
  })

  test('returns a nonce in its closing frame', async ({ bound, prove, opened }) => {
    const without = await prove({ nonce: undefined })
    const { code, reason } = await opened({ authorization: `DPoP ${bound}`, dpop: without })
    expect([code, reason]).toEqual([4403, expect.stringMatching(/^use_dpop_nonce /)])
    const nonce = reason.split(' ')[1]
    expect(await opened({ authorization: `DPoP ${bound}`, dpop: await prove({ nonce }) })).toMatchObject({
      code: 101,
    })
  })

  test.for<[name: string, params: (use: Use) => Promise<Record<string, unknown>>]>([
    ['that is bound, without a proof', async ({ bound }) => ({ authorization: `DPoP ${bound}` })],
    [
      'that is bound, with the Bearer scheme',
      async ({ bound, prove }) => ({ authorization: `Bearer ${bound}`, dpop: await prove() }),
    ],
    [
      'that is bound, with a proof by another key',
      async ({ bound, prove, otherKey }) => ({
        authorization: `DPoP ${bound}`,
        dpop: await prove({}, otherKey),
      }),
    ],
    [
      'that is bound, with a proof for another method',
      async ({ bound, prove }) => ({ authorization: `DPoP ${bound}`, dpop: await prove({ htm: 'POST' }) }),
    ],
    [
      'that is bound, with a proof for the ws scheme',
      async ({ bound, prove, urlOf }) => ({
        authorization: `DPoP ${bound}`,
        dpop: await prove({ htu: urlOf('/graphql').replace('http', 'ws') }),
      }),
    ],
    [
      'that is not bound, with the DPoP scheme',
      async ({ bearer, prove }) => ({ authorization: `DPoP ${bearer}`, dpop: await prove() }),
    ],
  ])('rejects a token %s', async ([_name, params], { keys, bound, bearer, urlOf, prove, opened }) => {
    const { code, reason } = await opened(
      await params({ bound, bearer, prove, otherKey: keys.otherKey, urlOf }),
    )
    expect(code).toBe(4403)
    expect(reason).not.toBe('')
  })
})

describe('a rejected WebSocket', () => {
  test.for<
    [name: string, params: (tokens: { bound: string; bearer: string }) => object, origin: string | null]
  >([
    ['without a proof', ({ bound }) => ({ authorization: `DPoP ${bound}` }), null],
    [
      'from an origin of another client',
      ({ bearer }) => ({ authorization: `Bearer ${bearer}` }),
      'https://else.example.com',
    ],
  ])(
    '%s executes no operation',
    async ([name, params, origin], { app, tenant, newClient, bound, bearer, insist, usersNamed }) => {
      await newClient({ allowedOrigins: ['https://else.example.com'] })
      const email = `${name.replaceAll(' ', '-')}@example.com`
      expect(await insist(params({ bound, bearer }), origin, email)).toBe(4403)
      // A mutation that starts after the close ends after those of the socket.
      expect((await app.gql(tenant, bearer, toCreateMutation(`late-${email}`))).body.errors).toBeUndefined()
      expect(await usersNamed(`late-${email}`)).toHaveLength(1)
      expect(await usersNamed(email)).toEqual([])
    },
  )
})
