import { describe, expect } from 'vitest'
import { errorOf, test } from '../support/graphql-test.ts'
import { recordStatements } from '../support/statements.ts'

describe('a GraphQL document', () => {
  const aliases = (count: number) =>
    `{ ${Array.from({ length: count }, (_, index) => `a${index}: viewer { tokenExpiresAt }`).join(' ')} }`
  const nested = (depth: number): string =>
    depth === 0 ? 'id' : `user { sessions { nodes { ${nested(depth - 1)} } } }`
  const manyTokens = `{ viewer { ${'scopes '.repeat(2001)} } }`

  test.for<[name: string, query: string, message: RegExp]>([
    ['31 aliases', aliases(31), /Aliases limit of 30 exceeded/],
    [
      'aliases hidden in fragments',
      `query { ...A ...B } fragment A on Query ${aliases(16)} fragment B on Query ${aliases(16)}`,
      /Aliases limit/,
    ],
    ['a depth of 15', `{ sessions { nodes { ${nested(4)} } } }`, /depth limit of 12 exceeded/],
    ['31 directives', `{ viewer { scopes ${'@include(if: true) '.repeat(31)} } }`, /Directives limit/],
  ])('is rejected for %s', async ([_what, query, message], { tenant, token, server }) => {
    const { status, body } = await server.post(tenant, token, query)
    expect(status).toBe(400)
    expect(body.data).toBeUndefined()
    expect(
      body.errors
        ?.filter(({ extensions }) => extensions.code === 'QUERY_TOO_COMPLEX')
        .map(({ message }) => message),
    ).toEqual([expect.stringMatching(message)])
  })

  test('is rejected for 2001 tokens', async ({ tenant, token, server }) => {
    const { status, body } = await server.post(tenant, token, manyTokens)
    expect(status).toBe(400)
    expect(errorOf(body)?.message).toMatch(/more than 2000 tokens|more that 2000 tokens/)
  })

  test('may have 30 aliases', async ({ tenant, token, server }) => {
    expect((await server.post(tenant, token, aliases(30))).body.errors).toBeUndefined()
  })

  test('may select a page of 1000, and is rejected where nested lists multiply, whether by literal or variable', async ({
    tenant,
    token,
    server,
  }) => {
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
    // The document again, from the cache of validated documents.
    expect((await server.post(tenant, token, query, { n: 50 })).body.errors).toBeUndefined()
    expect((await server.post(tenant, token, query, { n: 1000 })).status).toBe(400)
  })

  test('sends no statement to the database when it is rejected for its cost', async ({
    tenant,
    token,
    server,
  }) => {
    const query = 'query ($n: Int) { users(pageSize: $n) { nodes { sessions(first: $n) { nodes { id } } } } }'
    await server.post(tenant, token, query, { n: 1000 })
    expect(await recordStatements(() => server.post(tenant, token, query, { n: 1000 }))).toEqual([])
  })

  const guess = (alias: string) =>
    `${alias}: authenticatePasscode(input: { to: "a@example.com", code: "000000" }) { __typename }`
  test.for<[name: string, query: string]>([
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
  ])(
    'is rejected for two checks of credentials, by %s',
    async ([_what, query], { tenant, token, server }) => {
      const { status, body } = await server.post(tenant, token, query)
      expect(status).toBe(400)
      expect(body.errors?.map(({ message }) => message)).toEqual([
        'An operation may check or send only one credential.',
      ])
    },
  )

  test('is rejected for fragments that form a cycle', async ({ tenant, token, server }) => {
    const { status } = await server.post(
      tenant,
      token,
      'query { ...A } fragment A on Query { ...B } fragment B on Query { ...A }',
    )
    expect(status).toBe(400)
  })
})
