import { getIntrospectionQuery } from 'graphql'
import { describe, expect } from 'vitest'
import { test } from '../support/graphql-test.ts'

const repeat = (text: string, count: number): string => text.repeat(count)
const list = (count: number, build: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => build(index)).join(' ')

/** Documents of at most 10 KB whose validation takes from 30 to 600 ms without the limits. */
const EXPENSIVE: [name: string, query: string, what: string][] = [
  ['fields of one name', `{ ${repeat('viewer { scopes } ', 400)} }`, 'selections in one set'],
  [
    'fields of one name in a few sets',
    `{ ${repeat('users { nodes { id name } } ', 60)} }`,
    'repeated fields',
  ],
  ['inline fragments', `{ ${repeat('... { viewer { scopes } } ', 60)} }`, 'repeated fields'],
  [
    'spreads',
    `{ ${repeat('...A ', 900)} } fragment A on Query { viewer { scopes } }`,
    'selections in one set',
  ],
  ['unknown fields', `{ ${list(1900, (index) => `u${index}`)} }`, 'selections in one set'],
  [
    'fragments that double at each level',
    `{ viewer { user { ...F0 } } } ${list(30, (index) => `fragment F${index} on User { a: user { ...F${index + 1} } b: user { ...F${index + 1} } }`)} fragment F30 on User { id }`,
    'fields, with fragments in their place',
  ],
  ['variables', `query (${list(390, (index) => `$v${index}: Int`)}) { viewer { scopes } }`, 'variables'],
  ['a list of values', `{ nodes(ids: [${repeat('"a" ', 1900)}]) { id } }`, 'values in lists and objects'],
]

describe('the limits of a document', () => {
  test.for(EXPENSIVE)(
    'reject %s before the validation',
    async ([_name, query, what], { tenant, token, server }) => {
      const { status, body } = await server.post(tenant, token, query)
      expect(status).toBe(400)
      expect(body.errors).toEqual([
        {
          message: expect.stringMatching(`^The document has too many ${what}: \\d+ are allowed\\.$`),
          extensions: { code: 'QUERY_TOO_COMPLEX', requestId: expect.any(String) },
        },
      ])
    },
  )

  test('reject variables with more than 2,000 members, at any depth', async ({ tenant, token, server }) => {
    const query = 'query ($filter: UserFilter) { users(filter: $filter) { pageSize } }'
    const members = Object.fromEntries(Array.from({ length: 1900 }, (_, index) => [`m${index}`, 1]))
    for (const filter of [{ a: members, b: [[members]] }, { a: [Array.from({ length: 2001 }, () => 1)] }]) {
      const { status, body } = await server.post(tenant, token, query, { filter })
      expect(status).toBe(400)
      expect(body.errors).toMatchObject([
        { message: 'The variables have too many members: 2000 are allowed.' },
      ])
    }
    const { body } = await server.post(tenant, token, query, { filter: { search: 'ada' } })
    expect(body.errors).toBeUndefined()
  })

  test('accept an operation of an admin frontend with fragments that repeat fields', async ({
    tenant,
    token,
    server,
  }) => {
    const fragments = list(20, (index) => `fragment Row${index} on User { id name email updatedAt }`)
    const query = `{ users(first: 5) { nodes { ${list(20, (index) => `...Row${index}`)} } } } ${fragments}`
    expect((await server.post(tenant, token, query)).body.errors).toBeUndefined()
  })

  test('are smaller for anonymous callers, also for a document that a caller has sent before', async ({
    tenant,
    token,
    server,
  }) => {
    const query = `{ viewer { ${list(60, (index) => (index < 25 ? `a${index}: scopes` : 'scopes'))} } }`
    const accepted = await server.post(tenant, token, query)
    expect(accepted.body.errors).toBeUndefined()
    const { status, body } = await server.post(tenant, null, query)
    expect(status).toBe(400)
    expect(body.errors).toMatchObject([
      { message: expect.stringContaining('too many selections in one set') },
    ])
  })

  test('let anonymous callers introspect the schema where that is allowed', async ({ tenant, server }) => {
    const { body } = await server.post(tenant, null, getIntrospectionQuery())
    expect(body.errors).toBeUndefined()
    expect(body.data.__schema.types.length).toBeGreaterThan(50)
  })
})
