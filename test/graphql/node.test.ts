import { describe, expect } from 'vitest'
import { newId } from '../../src/core/crypto.ts'
import { createUser } from '../../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from '../support/actors.ts'
import { errorOf, test } from '../support/graphql-test.ts'

describe('Query.node', () => {
  test('returns the object with the id, and null where none exists', async ({
    tenant,
    token,
    ctx,
    server,
  }) => {
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

  test('rejects a caller without the scope, whether the object exists or not', async ({
    tenant,
    ctx,
    server,
  }) => {
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

  test.for(['user_', 'user_zzz', 'session_01h455vb4pex5vsknk084sn02', '', 'a/b', 'x'.repeat(65)])(
    'rejects the malformed id %j',
    async (id, { tenant, token, server }) => {
      const { body } = await server.post(tenant, token, 'query ($id: ID!) { node(id: $id) { id } }', { id })
      expect(errorOf(body)?.extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        fields: [{ field: 'id', description: 'is not an id' }],
      })
    },
  )

  test('returns null for an unknown id that has the form of an identity provider id', async ({
    tenant,
    token,
    server,
  }) => {
    for (const id of ['nowhere', 'USER_01h455vb4pex5vsknk084sn02q', 'x'.repeat(64)]) {
      const { body } = await server.post(tenant, token, 'query ($id: ID!) { node(id: $id) { id } }', { id })
      expect(body).toEqual({ data: { node: null } })
    }
  })

  test('finds no user by the id of a session: Query.user rejects it', async ({ tenant, token, server }) => {
    const { body } = await server.post(tenant, token, `{ user(id: "${newId('session')}") { id } }`)
    expect(errorOf(body)?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ field: 'id' }] })
  })

  test('returns null for an object of another tenant', async ({ tenant, token, server }) => {
    const other = await newTenant()
    const { id } = await createUser(await ctxFor(other), { name: 'Theirs' })
    expect((await server.post(tenant, token, `{ node(id: "${id}") { id } }`)).body).toEqual({
      data: { node: null },
    })
  })
})
