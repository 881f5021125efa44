import { describe, expect } from 'vitest'
import type { GraphqlBody } from '../support/app.ts'
import { test as base, errorOf } from '../support/graphql-test.ts'
import { openEventStream, openSocket } from '../support/streams.ts'

const QUERY = 'query Scopes { viewer { scopes } }'
const persistedQuery = { version: 1, sha256Hash: 'a'.repeat(64) }

const test = base
  /** Sends parameters by POST or GET. */
  .extend('sendParams', { scope: 'file' }, ({ send, token }) => {
    return async (method: 'GET' | 'POST', params: object, accept: string, bearer: string | null = token) => {
      const search = Object.entries(params).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ])
      const response = await send({
        method,
        headers: {
          accept,
          'content-type': 'application/json',
          ...(bearer && { authorization: `Bearer ${bearer}` }),
        },
        ...(method === 'POST'
          ? { body: JSON.stringify(params) }
          : { path: `?${new URLSearchParams(search)}` }),
      })
      return { status: response.status, body: (await response.json()) as GraphqlBody }
    }
  })
  .extend('socket', async ({ server, tenant, token }, { onCleanup }) => {
    const socket = openSocket(server.socketUrlOf(tenant), token)
    onCleanup(() => void socket.dispose())
    return socket
  })

describe('a request with the hash of a persisted query', () => {
  test.for([
    ['POST', 'application/json', 200],
    ['POST', 'application/graphql-response+json', 400],
    ['GET', 'application/json', 200],
    ['GET', 'application/graphql-response+json', 400],
  ] as const)(
    'without a document is answered with PersistedQueryNotSupported, by %s with %s',
    async ([method, accept, status], { sendParams }) => {
      for (const bearer of [undefined, null]) {
        const answer = await sendParams(method, { extensions: { persistedQuery } }, accept, bearer)
        expect(answer.status).toBe(status)
        expect(answer.body.errors).toEqual([
          {
            message: 'PersistedQueryNotSupported',
            extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED', requestId: expect.any(String) },
          },
        ])
      }
    },
  )

  test('without a document is answered so over a WebSocket', async ({ socket }) => {
    const results = socket.iterate({ query: '', extensions: { persistedQuery } })
    await expect(results.next()).rejects.toMatchObject([
      {
        message: 'PersistedQueryNotSupported',
        extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' },
      },
    ])
  })

  test('with a document is executed', async ({ sendParams, socket }) => {
    const params = { query: QUERY, extensions: { persistedQuery } }
    for (const method of ['GET', 'POST'] as const) {
      const { body } = await sendParams(method, params, 'application/json')
      expect(body).toMatchObject({ data: { viewer: { scopes: expect.any(Array) } } })
    }
    expect((await socket.iterate(params).next()).value).toMatchObject({ data: expect.anything() })
  })

  test('with an invalid token is answered with the error of the token', async ({ sendParams }) => {
    const params = { extensions: { persistedQuery } }
    const { status, body } = await sendParams('POST', params, 'application/json', 'nonsense')
    expect([status, errorOf(body)?.extensions.code]).toEqual([401, 'UNAUTHENTICATED'])
  })
})

describe('an empty operationName', () => {
  test('counts as absent, over each transport', async ({ sendParams, socket, server, tenant, token }) => {
    for (const query of [QUERY, '{ viewer { scopes } }']) {
      const params = { query, operationName: '' }
      for (const method of ['GET', 'POST'] as const) {
        const { body } = await sendParams(method, params, 'application/json')
        expect(body.errors).toBeUndefined()
      }
      expect((await socket.iterate(params).next()).value).not.toHaveProperty('errors')
      const stream = await openEventStream(server.urlOf(tenant), token, query, {}, {}, { operationName: '' })
      expect((await stream.next())?.data?.errors).toBeUndefined()
      stream.close()
    }
  })

  test('counts as absent for a mutation and a subscription', async ({
    sendParams,
    server,
    tenant,
    token,
  }) => {
    const mutation = 'mutation Create { createUser(input: { name: "Ada" }) { __typename } }'
    const { body } = await sendParams('POST', { query: mutation, operationName: '' }, 'application/json')
    expect(body.data).toEqual({ createUser: { __typename: 'CreateUserPayload' } })
    const query = 'subscription Events { events { __typename } }'
    const stream = await openEventStream(server.urlOf(tenant), token, query, {}, {}, { operationName: '' })
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    stream.close()
  })
})

describe('a parameter of a GET request that is not JSON', () => {
  test.for(['variables', 'extensions'])('is named: %s', async (name, { sendParams }) => {
    const { status, body } = await sendParams(
      'GET',
      { query: QUERY, [name]: '{' },
      'application/graphql-response+json',
    )
    expect(status).toBe(400)
    expect(errorOf(body)?.extensions.fields).toEqual([{ field: name, description: 'is not valid JSON' }])
  })
})
