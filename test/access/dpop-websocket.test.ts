import { describe, expect } from 'vitest'
import { test, toCreateMutation } from '../support/dpop-sockets.ts'
import type { ClientKey } from '../support/proofs.ts'

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
