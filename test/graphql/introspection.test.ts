import { getIntrospectionQuery } from 'graphql'
import { describe, expect } from 'vitest'
import { errorOf, test } from '../support/graphql-test.ts'

const introspections: [name: string, query: string][] = [
  ['__schema', getIntrospectionQuery()],
  ['__type', '{ __type(name: "User") { name } }'],
  ['__type in an inline fragment', '{ ... on Query { ... { __type(name: "User") { name } } } }'],
  ['__type in a fragment', 'query { ...A } fragment A on Query { x: __type(name: "User") { name } }'],
]

describe('introspection', () => {
  test.for(introspections)('by %s needs no token in development', async ([, query], { tenant, server }) => {
    expect((await server.post(tenant, null, query)).body.errors).toBeUndefined()
  })

  test.for(introspections)(
    'by %s requires a management scope in production',
    async ([, query], { tenant, token, production }) => {
      const { status, body } = await production.post(tenant, null, query)
      expect(status).toBe(400)
      expect(body.data).toBeUndefined()
      expect(errorOf(body)?.extensions.code).toBe('FORBIDDEN')
      expect((await production.post(tenant, token, query)).body.errors).toBeUndefined()
      // The document is validated now, and still not permitted to the next caller.
      expect((await production.post(tenant, null, query)).status).toBe(400)
    },
  )

  test('does not include __typename, and error messages suggest names in development only', async ({
    tenant,
    server,
    production,
  }) => {
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
