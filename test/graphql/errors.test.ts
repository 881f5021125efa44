import { describe, expect } from 'vitest'
import { createClient } from '../../src/clients/clients.ts'
import { MINIMAL_CLIENT } from '../support/clients.ts'
import { inTransaction } from '../support/database.ts'
import { errorOf, test } from '../support/graphql-test.ts'

describe('a GraphQL error', () => {
  test('of a mutation is data: ValidationError and ConflictError', async ({
    tenant,
    token,
    email,
    server,
  }) => {
    const mutation = `mutation ($input: CreateUserInput!) { createUser(input: $input) {
      __typename
      ... on UserError { code message requestId }
      ... on ValidationError { fields { field description } }
      ... on ConflictError { fields { field description } }
    } }`
    const invalid = await server.post(tenant, token, mutation, { input: { email: 'nonsense' } })
    expect(invalid.body.data.createUser).toMatchObject({
      __typename: 'ValidationError',
      code: 'BAD_USER_INPUT',
      requestId: invalid.headers.get('x-request-id'),
      fields: [{ field: 'email', description: expect.any(String) }],
    })
    const input = { email: email() }
    expect((await server.post(tenant, token, mutation, { input })).body.data.createUser.__typename).toBe(
      'CreateUserPayload',
    )
    expect((await server.post(tenant, token, mutation, { input })).body.data.createUser).toMatchObject({
      __typename: 'ConflictError',
      code: 'CONFLICT',
      fields: [{ field: 'email', description: expect.stringContaining('taken') }],
    })
  })

  test('of list arguments lists the invalid arguments', async ({ tenant, token, server }) => {
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

  test('of a variable of the wrong type has the code BAD_USER_INPUT and status 400', async ({
    tenant,
    token,
    server,
  }) => {
    const query = 'query ($n: Int) { users(pageSize: $n) { totalSize } }'
    const { status, body } = await server.post(tenant, token, query, { n: 'many' })
    expect(status).toBe(400)
    expect(errorOf(body)?.extensions).toEqual({ code: 'BAD_USER_INPUT', requestId: expect.any(String) })
  })

  test('of the server hides its cause and carries the request id', async ({ tenant, token, ctx, server }) => {
    const { client } = await createClient(ctx, MINIMAL_CLIENT)
    // A value that the schema does not know.
    await inTransaction((sql) =>
      sql(`UPDATE "Client" SET "appType" = 'nonsense' WHERE "tenantId" = $1 AND "id" = $2`, [
        tenant,
        client.id,
      ]),
    )
    const query = `{ client(id: "${client.id}") { name appType } }`
    const { status, headers, body } = await server.post(tenant, token, query)
    expect(status).toBe(200)
    expect(body).toEqual({
      data: { client: null },
      errors: [
        {
          message: 'Something went wrong on our side.',
          locations: expect.any(Array),
          path: ['client', 'appType'],
          extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: headers.get('x-request-id') },
        },
      ],
    })
  })
})
