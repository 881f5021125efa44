import { connect } from 'node:net'
import { auditServer } from 'graphql-http'
import { describe, expect } from 'vitest'
import type { GraphqlBody } from '../support/app.ts'
import { errorOf, test } from '../support/graphql-test.ts'

const json = { 'content-type': 'application/json', accept: 'application/graphql-response+json' }

describe('GraphQL over HTTP', () => {
  test('passes every check of the GraphQL over HTTP audit', async ({ tenant, server }) => {
    const results = await auditServer({ url: server.urlOf(tenant) })
    const failed = results.filter((result) => result.status !== 'ok')
    expect(failed.map(({ id, name, status, reason }) => ({ id, name, status, reason }))).toEqual([])
    expect(results.length).toBeGreaterThanOrEqual(61)
  })

  test('rejects a malformed request with the error codes of REST', async ({ tenant, token, server }) => {
    const post = async (init: RequestInit) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
      const response = await fetch(server.urlOf(tenant), { method: 'POST', headers, ...init })
      const { errors } = (await response.json()) as GraphqlBody
      return [
        response.status,
        errors?.map(({ extensions }) => Object.keys(extensions).sort()),
        errors?.[0]?.extensions.code,
      ]
    }
    const only = [['code', 'requestId']]
    for (const body of [
      '{"query"',
      '[]',
      '"{ viewer { scopes } }"',
      '{"query":"{ viewer { scopes } }","variables":5}',
    ])
      expect(await post({ body })).toEqual([400, only, 'BAD_USER_INPUT'])
    expect(await post({ body: '{}' })).toEqual([200, only, 'BAD_USER_INPUT'])
    expect(await post({ method: 'PUT', body: '{}' })).toEqual([405, only, 'METHOD_NOT_ALLOWED'])
  })

  test('gets an id of its own, whatever X-Request-Id the caller sends, and is not cached', async ({
    tenant,
    token,
    server,
  }) => {
    const first = await server.post(
      tenant,
      token,
      '{ viewer { scopes } }',
      {},
      { 'x-request-id': 'frontend-4711' },
    )
    expect(first.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(first.headers.get('cache-control')).toBe('no-store')
    const second = await server.post(tenant, token, '{ nonsense }', {}, { 'x-request-id': 'a b\tc' })
    const id = second.headers.get('x-request-id')
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(errorOf(second.body)?.extensions).toMatchObject({
      code: 'GRAPHQL_VALIDATION_FAILED',
      requestId: id,
    })
  })

  test.for([
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    'application/graphql',
    'application/json-patch+json',
  ])('rejects a body of type %s with 415', async (type, { send }) => {
    for (const extra of [{}, { 'x-graphql-yoga-csrf': '1' }] as Record<string, string>[]) {
      const body = type.includes('form-url') ? 'query={viewer{scopes}}' : '{"query":"{viewer{scopes}}"}'
      const response = await send({ method: 'POST', headers: { ...extra, 'content-type': type }, body })
      expect(response.status).toBe(415)
      expect(await response.text()).not.toContain('"data"')
    }
  })

  test('rejects a mutation sent by GET with 405', async ({ send }) => {
    const response = await send({
      path: `?query=${encodeURIComponent('mutation { lockUser(input: {userId: "x"}) { __typename } }')}`,
      headers: json,
    })
    expect(response.status).toBe(405)
  })

  test('rejects variables of a GET request that are not JSON', async ({ send }) => {
    const response = await send({
      path: `?query=${encodeURIComponent('{ viewer { scopes } }')}&variables=%7B`,
      headers: json,
    })
    expect(response.status).toBe(400)
    expect(errorOf((await response.json()) as never)?.extensions.code).toBe('BAD_USER_INPUT')
  })

  test('rejects a batch and a document with several operations', async ({ send }) => {
    const batch = await send({
      method: 'POST',
      headers: json,
      body: JSON.stringify([{ query: '{ viewer { scopes } }' }]),
    })
    expect(batch.status).toBe(400)
    const query = 'query A { viewer { scopes } } query B { viewer { scopes } }'
    const several = await send({
      method: 'POST',
      headers: json,
      body: JSON.stringify({ query, operationName: 'A' }),
    })
    const { status, body } = { status: several.status, body: (await several.json()) as GraphqlBody }
    expect(status).toBe(400)
    expect(errorOf(body)).toMatchObject({
      message: 'A document may have only one operation.',
      extensions: { code: 'QUERY_TOO_COMPLEX' },
    })
  })

  test('rejects a body of more than 100 KB, with and without Content-Length', async ({ send }) => {
    const body = JSON.stringify({
      query: '{ viewer { scopes } }',
      variables: { padding: 'x'.repeat(100_000) },
    })
    expect((await send({ method: 'POST', headers: json, body })).status).toBe(413)
    const chunked = new ReadableStream({
      start(controller) {
        for (let index = 0; index < 11; index++)
          controller.enqueue(new TextEncoder().encode(body.slice(index * 10_000, (index + 1) * 10_000)))
        controller.close()
      },
    })
    expect(
      (await send({ method: 'POST', headers: json, body: chunked, duplex: 'half' } as RequestInit)).status,
    ).toBe(413)
  })

  test('sends no CORS headers to an origin that no client lists', async ({ send }) => {
    const preflight = await send({
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
    const actual = await send({
      method: 'POST',
      headers: { ...json, origin: 'https://evil.example' },
      body: '{"query":"{__typename}"}',
    })
    expect([...actual.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('serves GraphiQL in development and not in production', async ({ production, send }) => {
    const headers = { accept: 'text/html' }
    expect(await (await send({ headers })).text()).toContain('GraphiQL')
    expect(await (await send({ headers }, production)).text()).not.toContain('GraphiQL')
  })

  test('answers 404 for an unknown tenant', async ({ server }) => {
    const { status, body } = await server.post('no-such-tenant', null, '{ __typename }')
    expect(status).toBe(404)
    expect(errorOf(body)).toMatchObject({
      message: 'No such tenant.',
      extensions: { code: 'NOT_FOUND', requestId: expect.any(String) },
    })
  })

  test('serves other requests after clients have disconnected from their streams', async ({
    tenant,
    token,
    server,
  }) => {
    const { port } = new URL(server.urlOf(tenant))
    for (let index = 0; index < 5; index++) {
      const body = JSON.stringify({ query: 'subscription { events { id } }' })
      const socket = connect(Number(port), '127.0.0.1')
      socket.write(
        `POST /${tenant}/graphql HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\n` +
          `Authorization: Bearer ${token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
      await new Promise((resolve) => socket.once('data', resolve))
      socket.destroy()
    }
    expect((await server.post(tenant, token, '{ viewer { scopes } }')).status).toBe(200)
  })
})
