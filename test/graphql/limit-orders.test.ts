import { describe, expect } from 'vitest'
import { newTenant, tokenFor } from '../support/actors.ts'
import { test as base, errorOf } from '../support/graphql-test.ts'
import { openEventStream, openSocket } from '../support/streams.ts'

const list = (count: number, build: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => build(index)).join(' ')

const test = base
  .extend('neighbor', { scope: 'file' }, async ({ app: _ }) => newTenant())
  .extend('neighborToken', { scope: 'file' }, ({ neighbor }) => tokenFor(neighbor))

/** An id of no user. */
const NODE = 'user_01m7xeb1sbendby702xerkqv3p'
const USER_FIELDS =
  'id name email emailVerified phoneNumber phoneNumberVerified givenName familyName middleName nickname profile website gender birthdate locale createdAt updatedAt lastSeenAt'

/** Documents that a caller may execute, and a stranger may not. Each build has another text. */
const LIMITED: [limit: string, build: (name: string) => string, message: string][] = [
  ['characters', (name) => `query ${name} { viewer { scopes } } #${'x'.repeat(12_000)}`, 'characters'],
  [
    'selections in one set',
    (name) =>
      `query ${name} { viewer { ${list(25, (index) => `a${index}: scopes`)} ${list(35, () => 'scopes')} } }`,
    'selections in one set',
  ],
  [
    'selections',
    (name) => `query ${name} { ${list(12, (index) => `a${index}: viewer { ${list(10, () => 'scopes')} }`)} }`,
    'selections:',
  ],
  [
    'repeated fields',
    (name) => `query ${name} { viewer { ${list(40, () => 'scopes')} } }`,
    'repeated fields',
  ],
  [
    'fields with fragments in their place',
    (name) =>
      `query ${name} { ${list(27, (index) => `a${index}: viewer { user { ...Row } }`)} } fragment Row on User { ${USER_FIELDS} }`,
    'fields, with fragments in their place',
  ],
  ['values', (name) => `query ${name} { nodes(ids: [${list(30, () => `"${NODE}"`)}]) { id } }`, 'values'],
  [
    'variables',
    (name) =>
      `query ${name} (${list(15, (index) => `$v${index}: ID!`)}) { nodes(ids: [${list(15, (index) => `$v${index}`)}]) { id } }`,
    'variables',
  ],
]
const variables = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`v${index}`, NODE]))

describe('a limit that depends on the caller', () => {
  test.for(LIMITED)(
    'of %s rejects a stranger and no caller with a token, in either order, over each transport',
    async ([_limit, build, message], { tenant, token, neighbor, neighborToken, server, onTestFinished }) => {
      const socket = openSocket(server.socketUrlOf(neighbor), neighborToken)
      onTestFinished(() => void socket.dispose())
      const asStranger = async (query: string) => {
        for (const at of [tenant, neighbor]) {
          const { status, body } = await server.post(at, null, query, variables)
          expect(errorOf(body)?.message).toContain(`The document has too many`)
          expect(errorOf(body)?.message).toContain(message)
          expect(status).toBe(400)
        }
      }
      const asCaller = {
        http: async (query: string) => {
          for (const [at, bearer] of [
            [tenant, token],
            [neighbor, neighborToken],
          ] as const)
            expect((await server.post(at, bearer, query, variables)).body.errors).toBeUndefined()
        },
        stream: async (query: string) => {
          const stream = await openEventStream(server.urlOf(neighbor), neighborToken, query, variables)
          expect((await stream.next())?.data?.errors).toBeUndefined()
          stream.close()
        },
        socket: async (query: string) => {
          const { value } = await socket.iterate({ query, variables }).next()
          expect(value).toMatchObject({ data: expect.anything() })
          expect(value.errors).toBeUndefined()
        },
      }
      for (const [transport, call] of Object.entries(asCaller)) {
        const [strangerFirst, callerFirst] = [build(`Stranger_${transport}`), build(`Caller_${transport}`)]
        await asStranger(strangerFirst)
        await call(strangerFirst)
        await asStranger(strangerFirst)
        await call(callerFirst)
        await asStranger(callerFirst)
        await call(callerFirst)
      }
    },
  )

  test('of introspection in production rejects a stranger and no caller with a management scope, in either order', async ({
    tenant,
    token,
    neighbor,
    neighborToken,
    production,
  }) => {
    const rejected = async (query: string) =>
      expect(errorOf((await production.post(tenant, null, query)).body)?.extensions.code).toBe('FORBIDDEN')
    const accepted = async (query: string) => {
      expect((await production.post(tenant, token, query)).body.errors).toBeUndefined()
      expect((await production.post(neighbor, neighborToken, query)).body.errors).toBeUndefined()
    }
    for (const calls of [
      [rejected, accepted, rejected, accepted],
      [accepted, rejected, accepted, rejected],
    ]) {
      const query = `query Order${calls[0]?.name} { __schema { queryType { name } } }`
      for (const call of calls) await call(query)
    }
  })

  test('of the cost rejects the variables of one request and not those of another', async ({
    tenant,
    token,
    neighbor,
    neighborToken,
    server,
  }) => {
    const build = (name: string) =>
      `query ${name} ($n: Int) { users(pageSize: $n) { nodes { sessions(first: $n) { nodes { id } } } } }`
    const send = async (at: string, bearer: string, query: string, n: number) =>
      (await server.post(at, bearer, query, { n })).status
    for (const sizes of [
      [1000, 50, 1000],
      [50, 1000, 50],
    ]) {
      const query = build(`Cost${sizes[0]}`)
      for (const n of sizes)
        expect([await send(tenant, token, query, n), await send(neighbor, neighborToken, query, n)]).toEqual(
          n === 1000 ? [400, 400] : [200, 200],
        )
    }
  })
})
