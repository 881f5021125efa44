import { connect } from 'node:net'
import { getIntrospectionQuery } from 'graphql'
import { auditServer } from 'graphql-http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../src/crypto.ts'
import { type Ctx, SYSTEM_TENANT } from '../src/ctx.ts'
import { inTransaction } from '../src/db.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { USER_FIELDS } from '../src/users/users.fields.ts'
import { createUser } from '../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from './support/actors.ts'
import type { GraphqlBody } from './support/app.ts'
import { type GraphqlServer, serveGraphql } from './support/graphql-server.ts'
import { recordStatements } from './support/statements.ts'

let server: GraphqlServer
let production: GraphqlServer
let tenant: string
let token: string
let ctx: Ctx

beforeAll(async () => {
  await openRuntime()
  server = await serveGraphql()
  production = await serveGraphql({ isProduction: true })
  tenant = await newTenant()
  token = await tokenFor(tenant)
  ctx = await ctxFor(tenant)
})
afterAll(async () => {
  await server.close()
  await production.close()
  await closeRuntime()
})

const send = (init: RequestInit & { path?: string }, at = server) =>
  fetch(`${at.urlOf(tenant)}${init.path ?? ''}`, { redirect: 'manual', ...init })
const json = { 'content-type': 'application/json', accept: 'application/graphql-response+json' }
const errorOf = (body: { errors?: { message: string; extensions: Record<string, unknown> }[] }) =>
  body.errors?.[0]

describe('the protocol', () => {
  test('passes every check of the GraphQL over HTTP audit', async () => {
    const results = await auditServer({ url: server.urlOf(tenant) })
    const failed = results.filter((result) => result.status !== 'ok')
    expect(failed.map(({ id, name, status, reason }) => ({ id, name, status, reason }))).toEqual([])
    expect(results.length).toBeGreaterThanOrEqual(61)
  })

  test('refuses what is no GraphQL request under the codes that REST has for it', async () => {
    const send = async (init: RequestInit) => {
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
      expect(await send({ body })).toEqual([400, only, 'BAD_USER_INPUT'])
    expect(await send({ body: '{}' })).toEqual([200, only, 'BAD_USER_INPUT'])
    expect(await send({ method: 'PUT', body: '{}' })).toEqual([405, only, 'METHOD_NOT_ALLOWED'])
  })

  test('names each request, takes over a harmless name, and is never cached', async () => {
    const first = await server.post(
      tenant,
      token,
      '{ viewer { scopes } }',
      {},
      { 'x-request-id': 'frontend-4711' },
    )
    expect(first.headers.get('x-request-id')).toBe('frontend-4711')
    expect(first.headers.get('cache-control')).toBe('no-store')
    const second = await server.post(tenant, token, '{ nonsense }', {}, { 'x-request-id': 'a b\tc' })
    const id = second.headers.get('x-request-id')
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(errorOf(second.body)?.extensions).toMatchObject({
      code: 'GRAPHQL_VALIDATION_FAILED',
      requestId: id,
    })
  })

  test.each([
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    'application/graphql',
    'application/json-patch+json',
  ])('a body of type %s runs nothing (CSRF)', async (type) => {
    for (const extra of [{}, { 'x-graphql-yoga-csrf': '1' }] as Record<string, string>[]) {
      const body = type.includes('form-url') ? 'query={viewer{scopes}}' : '{"query":"{viewer{scopes}}"}'
      const response = await send({ method: 'POST', headers: { ...extra, 'content-type': type }, body })
      expect(response.status).toBe(415)
      expect(await response.text()).not.toContain('"data"')
    }
  })

  test('a mutation by GET is refused', async () => {
    const response = await send({
      path: `?query=${encodeURIComponent('mutation { lockUser(input: {userId: "x"}) { __typename } }')}`,
      headers: json,
    })
    expect(response.status).toBe(405)
  })

  test('variables of a GET that are not JSON are the caller’s fault', async () => {
    const response = await send({
      path: `?query=${encodeURIComponent('{ viewer { scopes } }')}&variables=%7B`,
      headers: json,
    })
    expect(response.status).toBe(400)
    expect(errorOf((await response.json()) as never)?.extensions.code).toBe('BAD_USER_INPUT')
  })

  test('several operations in one request, or in one document, are refused', async () => {
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
      message: 'A document may have one operation only.',
      extensions: { code: 'QUERY_TOO_COMPLEX' },
    })
  })

  test('a body of more than 100 KB is refused, with and without a length', async () => {
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

  test('no other origin is let in', async () => {
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

  test('a browser gets GraphiQL in development only', async () => {
    const headers = { accept: 'text/html' }
    expect(await (await send({ headers })).text()).toContain('GraphiQL')
    expect(await (await send({ headers }, production)).text()).not.toContain('GraphiQL')
  })

  test('a tenant that does not exist is not found', async () => {
    const { status, body } = await server.post('nobody-here', null, '{ __typename }')
    expect(status).toBe(404)
    expect(errorOf(body)).toMatchObject({
      message: 'No such tenant.',
      extensions: { code: 'NOT_FOUND', requestId: expect.any(String) },
    })
  })

  test('a client that hangs up in the middle of a stream harms nobody', async () => {
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

describe('who calls', () => {
  test('anonymously gets UNAUTHENTICATED for each field, and nothing else', async () => {
    const { status, body } = await server.post(
      tenant,
      null,
      '{ viewer { scopes } users { totalSize } node(id: "x_y") { id } }',
    )
    expect(status).toBe(200)
    expect(body.data).toEqual({ viewer: null, users: null, node: null })
    expect(
      body.errors
        ?.slice(0, 2)
        .map(({ message, path, extensions }) => ({ message, path, code: extensions.code })),
    ).toEqual([
      { message: 'A valid access token is required.', path: ['viewer'], code: 'UNAUTHENTICATED' },
      { message: 'A valid access token is required.', path: ['users'], code: 'UNAUTHENTICATED' },
    ])
  })

  test.each([
    ['nonsense', 'Bearer nonsense'],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['an empty token', 'Bearer '],
  ])('with %s gets 401 before anything else', async (_what, authorization) => {
    const { status, headers, body } = await server.post(
      tenant,
      null,
      '{ __typename nonsense }',
      {},
      { authorization },
    )
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
    expect(body).toEqual({
      errors: [
        {
          message: 'The access token is invalid, expired or revoked.',
          extensions: { code: 'UNAUTHENTICATED', requestId: headers.get('x-request-id') },
        },
      ],
    })
  })

  test('with another tenant’s token gets 401', async () => {
    const { status } = await server.post(tenant, await tokenFor(await newTenant()), '{ viewer { scopes } }')
    expect(status).toBe(401)
  })

  test('without the scope is told which one is missing', async () => {
    const { body } = await server.post(
      tenant,
      await tokenFor(tenant, ['users:read']),
      '{ tenant { id } users { totalSize } }',
    )
    expect(body).toMatchObject({
      data: { tenant: null, users: { totalSize: expect.any(Number) } },
      errors: [
        { message: 'Requires scope tenant:read.', path: ['tenant'], extensions: { code: 'FORBIDDEN' } },
      ],
    })
  })

  test('sees who they are', async () => {
    const query = '{ viewer { user { id } client { id name } session { id } scopes tokenExpiresAt } }'
    const { body } = await server.post(tenant, await tokenFor(tenant, ['users:read', 'clients:read']), query)
    const { actor } = ctx
    expect(body).toEqual({
      data: {
        viewer: {
          user: null,
          client: { id: actor.kind === 'client' && actor.clientId, name: 'Test backend' },
          session: null,
          scopes: ['clients:read', 'users:read'],
          tokenExpiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
        },
      },
    })
  })
})

test('a client without scopes sees itself, and no other client', async () => {
  const bare = await tokenFor(tenant, [])
  const { body } = await server.post(
    tenant,
    bare,
    '{ viewer { client { name } scopes } clients { totalSize } }',
  )
  expect(body).toMatchObject({
    data: { viewer: { client: { name: 'Test backend' }, scopes: [] }, clients: null },
    errors: [{ message: 'Requires scope clients:read.', path: ['clients'] }],
  })
})

describe('errors', () => {
  test('that are expected are data', async () => {
    const mutation = `mutation ($input: CreateUserInput!) { createUser(input: $input) {
      __typename
      ... on UserError { code message requestId }
      ... on ValidationError { fields { field description } }
      ... on ConflictError { fields { field description } }
    } }`
    const invalid = await server.post(tenant, token, mutation, { input: { fields: { email: 'nonsense' } } })
    expect(invalid.body.data.createUser).toMatchObject({
      __typename: 'ValidationError',
      code: 'BAD_USER_INPUT',
      requestId: invalid.headers.get('x-request-id'),
      fields: [{ field: 'email', description: expect.any(String) }],
    })
    const input = { fields: { email: 'ada@example.com' } }
    expect((await server.post(tenant, token, mutation, { input })).body.data.createUser.__typename).toBe(
      'UserPayload',
    )
    expect((await server.post(tenant, token, mutation, { input })).body.data.createUser).toMatchObject({
      __typename: 'ConflictError',
      code: 'CONFLICT',
      fields: [{ field: 'email', description: expect.stringContaining('taken') }],
    })
  })

  test('of a list’s arguments name each faulty one', async () => {
    const { status, body } = await server.post(
      tenant,
      token,
      '{ users(page: 0, first: 0, pageSize: 1001) { totalSize } }',
    )
    expect(status).toBe(200)
    expect(errorOf(body)?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: expect.arrayContaining([
        { field: 'first', description: 'must be a whole number from 1 to 1000' },
      ]),
    })
  })

  test('of variables that do not fit are BAD_USER_INPUT', async () => {
    const query = 'query ($n: Int) { users(pageSize: $n) { totalSize } }'
    const { status, body } = await server.post(tenant, token, query, { n: 'many' })
    expect(status).toBe(400)
    expect(errorOf(body)?.extensions).toEqual({ code: 'BAD_USER_INPUT', requestId: expect.any(String) })
  })

  test('of ours are hidden, and named by the request only', async () => {
    const { id } = await createUser(ctx, { name: 'Ada' })
    // A value that the schema does not know, as a faulty deployment might leave it.
    await inTransaction((sql) =>
      sql(`UPDATE "User" SET "roles" = '{nonsense}' WHERE "tenantId" = $1 AND "id" = $2`, [tenant, id]),
    )
    const { status, headers, body } = await server.post(tenant, token, `{ user(id: "${id}") { name roles } }`)
    expect(status).toBe(200)
    expect(body).toEqual({
      data: { user: null },
      errors: [
        {
          message: 'Something went wrong on our side.',
          locations: expect.any(Array),
          path: ['user', 'roles', 0],
          extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: headers.get('x-request-id') },
        },
      ],
    })
  })
})

describe('node', () => {
  test('finds by id what the caller may see, and answers null for what is not there', async () => {
    const { id } = await createUser(ctx, { name: 'Ada' })
    const query =
      'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on User { name } ... on Tenant { settings { friendlyName } } } }'
    const { body } = await server.post(tenant, token, query, {
      ids: [id, newId('user'), tenant, newId('grant'), 'other-tenant'],
    })
    expect(body).toEqual({
      data: {
        nodes: [
          { __typename: 'User', id, name: 'Ada' },
          null,
          { __typename: 'Tenant', id: tenant, settings: { friendlyName: null } },
          null,
          null,
        ],
      },
    })
  })

  test('refuses without the scope whether it is there or not', async () => {
    const { id } = await createUser(ctx, { name: 'Ada' })
    const blind = await tokenFor(tenant, ['tenant:read'])
    const answers = await Promise.all(
      [id, newId('user')].map((id) => server.post(tenant, blind, `{ node(id: "${id}") { id } }`)),
    )
    for (const { body } of answers)
      expect(errorOf(body)).toMatchObject({
        message: 'Requires scope users:read.',
        extensions: { code: 'FORBIDDEN' },
      })
  })

  test.each(['user_', 'user_zzz', 'session_01h455vb4pex5vsknk084sn02', '', 'a/b', 'x'.repeat(65)])(
    'refuses the malformed id %j',
    async (id) => {
      const { body } = await server.post(tenant, token, 'query ($id: ID!) { node(id: $id) { id } }', { id })
      expect(errorOf(body)?.extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        fields: [{ field: 'id', description: 'is not an id' }],
      })
    },
  )

  test('finds nothing under an id that could be the one of an identity provider, which tenants choose', async () => {
    for (const id of ['nowhere', 'USER_01h455vb4pex5vsknk084sn02q', 'x'.repeat(64)]) {
      const { body } = await server.post(tenant, token, 'query ($id: ID!) { node(id: $id) { id } }', { id })
      expect(body).toEqual({ data: { node: null } })
    }
  })

  test('refuses an id of another kind where one kind is meant', async () => {
    const { body } = await server.post(tenant, token, `{ user(id: "${newId('session')}") { id } }`)
    expect(errorOf(body)?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ field: 'id' }] })
  })

  test('shows no other tenant’s things', async () => {
    const other = await newTenant()
    const { id } = await createUser(await ctxFor(other), { name: 'Theirs' })
    expect((await server.post(tenant, token, `{ node(id: "${id}") { id } }`)).body).toEqual({
      data: { node: null },
    })
  })
})

describe('limits', () => {
  const aliases = (count: number) =>
    `{ ${Array.from({ length: count }, (_, index) => `a${index}: viewer { tokenExpiresAt }`).join(' ')} }`
  const nested = (depth: number): string =>
    depth === 0 ? 'id' : `user { sessions { nodes { ${nested(depth - 1)} } } }`
  const manyTokens = `{ viewer { ${'scopes '.repeat(2001)} } }`

  test.each([
    ['31 aliases', aliases(31), /Aliases limit of 30 exceeded/],
    [
      'aliases hidden in fragments',
      `query { ...A ...B } fragment A on Query ${aliases(16)} fragment B on Query ${aliases(16)}`,
      /Aliases limit/,
    ],
    ['a depth of 15', `{ sessions { nodes { ${nested(4)} } } }`, /depth limit of 12 exceeded/],
    ['31 directives', `{ viewer { scopes ${'@include(if: true) '.repeat(31)} } }`, /Directives limit/],
  ])('%s are refused', async (_what, query, message) => {
    const { status, body } = await server.post(tenant, token, query)
    expect(status).toBe(400)
    expect(body.data).toBeUndefined()
    expect(
      body.errors
        ?.filter(({ extensions }) => extensions.code === 'QUERY_TOO_COMPLEX')
        .map(({ message }) => message),
    ).toEqual([expect.stringMatching(message)])
  })

  test('2001 tokens are refused', async () => {
    const { status, body } = await server.post(tenant, token, manyTokens)
    expect(status).toBe(400)
    expect(errorOf(body)?.message).toMatch(/more than 2000 tokens|more that 2000 tokens/)
  })

  test('30 aliases pass', async () => {
    expect((await server.post(tenant, token, aliases(30))).body.errors).toBeUndefined()
  })

  test('a page of 1000 passes, whether literal or variable; what multiplies does not', async () => {
    const fields =
      'edges { cursor node { id name email createdAt } } nodes { id } pageInfo { endCursor } totalSize'
    expect(
      (await server.post(tenant, token, `{ users(pageSize: 1000) { ${fields} } }`)).body.errors,
    ).toBeUndefined()
    const query = 'query ($n: Int) { users(pageSize: $n) { nodes { sessions(first: $n) { nodes { id } } } } }'
    expect((await server.post(tenant, token, query, { n: 50 })).body.errors).toBeUndefined()
    const { status, body } = await server.post(tenant, token, query, { n: 1000 })
    expect(status).toBe(400)
    expect(errorOf(body)?.extensions.code).toBe('QUERY_TOO_COMPLEX')
    // The same document again: the cache of validated documents must not let it through.
    expect((await server.post(tenant, token, query, { n: 50 })).body.errors).toBeUndefined()
    expect((await server.post(tenant, token, query, { n: 1000 })).status).toBe(400)
  })

  test('the refused operation sends nothing to the database', async () => {
    const query = 'query ($n: Int) { users(pageSize: $n) { nodes { sessions(first: $n) { nodes { id } } } } }'
    await server.post(tenant, token, query, { n: 1000 })
    expect(await recordStatements(() => server.post(tenant, token, query, { n: 1000 }))).toEqual([])
  })

  const guess = (alias: string) =>
    `${alias}: authenticatePasscode(input: { to: "a@example.com", code: "000000" }) { __typename }`
  test.each([
    ['aliases', `mutation { ${guess('a')} ${guess('b')} }`],
    [
      'fragments',
      `mutation { ...A ...B } fragment A on Mutation { ${guess('a')} } fragment B on Mutation { ${guess('b')} }`,
    ],
    [
      'one fragment in another',
      `mutation { ...A ... on Mutation { ${guess('b')} } } fragment A on Mutation { ...C } fragment C on Mutation { ${guess('a')} }`,
    ],
    [
      'fields of several kinds',
      `mutation { ${guess('a')} authenticateSession(input: { sessionToken: "x" }) { __typename } }`,
    ],
  ])('an operation checks one credential only: %s buy no second guess', async (_what, query) => {
    const { status, body } = await server.post(tenant, token, query)
    expect(status).toBe(400)
    expect(body.errors?.map(({ message }) => message)).toEqual([
      'An operation may check or send one credential only.',
    ])
  })

  test('fragments that go in circles are refused, not followed', async () => {
    const { status } = await server.post(
      tenant,
      token,
      'query { ...A } fragment A on Query { ...B } fragment B on Query { ...A }',
    )
    expect(status).toBe(400)
  })
})

describe('a page of users', () => {
  test('is one statement, with its nested lists; counting is one more', async () => {
    // Of three calls at most one falls on the end of the second that caches keep things.
    const read = async (query: string) => {
      const runs: string[][] = []
      for (let run = 0; run < 3; run++)
        runs.push(await recordStatements(() => server.post(tenant, token, query)))
      return runs.toSorted((one, other) => one.length - other.length)[0]
    }
    expect(await read('{ users { nodes { id name } } }')).toHaveLength(1)
    expect(await read('{ users { edges { cursor node { id } } totalSize } }')).toHaveLength(2)
    expect(
      await read('{ users(pageSize: 50) { nodes { id sessions(first: 5) { nodes { id } } } } }'),
    ).toHaveLength(1)
    expect(await read('{ users { edges { node { id sessions { edges { node { id } } } } } } }')).toHaveLength(
      1,
    )
  })
})

describe('columns of a page of users', () => {
  const DETAILED = {
    name: 'Ada',
    email: 'ada@example.com',
    emailVerified: true,
    address: { locality: 'London' },
    userMetadata: { shoe: 7 },
    appMetadata: { plan: 'gold' },
  }
  const readNode = async (at: string, selection: string, fragments = '') => {
    const { body } = await server.post(at, await tokenFor(at), `{ users { ${selection} } } ${fragments}`)
    expect(body.errors).toBeUndefined()
    return (body.data as { users: { nodes: Record<string, unknown>[] } }).users.nodes[0]
  }
  const FIELDS = [...USER_FIELDS, 'roles', '__typename'].map((field) =>
    field === 'address' ? 'address { locality }' : field,
  )

  test('are those of the fields that were selected, and each field alone is what it is among all', async () => {
    const at = await newTenant()
    await createUser(await ctxFor(at), DETAILED)
    const whole = (await readNode(at, `nodes { ${FIELDS.join(' ')} }`)) as Record<string, unknown>
    expect(whole).toMatchObject(DETAILED)
    for (const field of FIELDS) {
      const name = field.split(' ', 1)[0] as string
      expect(await readNode(at, `nodes { ${field} }`), name).toEqual({ [name]: whole[name] })
    }
    const statements = await recordStatements(() => readNode(at, 'nodes { name }'))
    expect(statements.join()).not.toContain('userMetadata')
  })

  test('are found behind aliases, fragments, repeated selections and edges', async () => {
    const at = await newTenant()
    await createUser(await ctxFor(at), DETAILED)
    const fragments =
      'fragment A on User { ...B ...B } fragment B on User { ... on Node { ... on User { email } } ...C } fragment C on User { locked }'
    expect(await readNode(at, 'nodes { called: name ...A } nodes { emailVerified }', fragments)).toEqual({
      called: 'Ada',
      email: 'ada@example.com',
      locked: false,
      emailVerified: true,
    })
    const rows = 'rows: nodes { name } edges { node { userMetadata } } nodes { email }'
    expect(await readNode(at, rows)).toEqual({ email: 'ada@example.com' })
  })
})

describe('introspection', () => {
  const hidden = [
    ['__schema', getIntrospectionQuery()],
    ['__type', '{ __type(name: "User") { name } }'],
    ['__type in an inline fragment', '{ ... on Query { ... { __type(name: "User") { name } } } }'],
    ['__type in a fragment', 'query { ...A } fragment A on Query { x: __type(name: "User") { name } }'],
  ] as const

  test.each(hidden)('by %s is open in development', async (_what, query) => {
    expect((await server.post(tenant, null, query)).body.errors).toBeUndefined()
  })

  test.each(hidden)('by %s needs a management scope in production', async (_what, query) => {
    const { status, body } = await production.post(tenant, null, query)
    expect(status).toBe(400)
    expect(body.data).toBeUndefined()
    expect(errorOf(body)?.extensions.code).toBe('FORBIDDEN')
    expect((await production.post(tenant, token, query)).body.errors).toBeUndefined()
    // And the other way round: what was validated for one caller is not permitted to the next.
    expect((await production.post(tenant, null, query)).status).toBe(400)
  })

  test('__typename stays possible, and messages suggest nothing', async () => {
    expect((await production.post(tenant, null, '{ __typename }')).body).toEqual({
      data: { __typename: 'Query' },
    })
    expect(JSON.stringify((await production.post(tenant, null, '{ viewr { scopes } }')).body)).not.toMatch(
      /did you mean/i,
    )
    expect(JSON.stringify((await server.post(tenant, null, '{ viewr { scopes } }')).body)).toMatch(
      /did you mean/i,
    )
  })
})

describe('an operator of tenant system', () => {
  test('lists tenants there, and not from elsewhere', async () => {
    const operator = await tokenFor(SYSTEM_TENANT, ['tenants:read'])
    const query = '{ tenants { nodes { id } } }'
    expect((await server.post(SYSTEM_TENANT, operator, query)).body.data.tenants.nodes).toContainEqual({
      id: tenant,
    })
    expect(errorOf((await server.post(tenant, token, query)).body)?.message).toBe(
      'Requires scope tenants:read.',
    )
  })
})
