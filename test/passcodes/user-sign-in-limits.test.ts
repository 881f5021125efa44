import { describe, expect } from 'vitest'
import { createUser } from '../../src/users/users.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { test } from '../support/graphql-test.ts'
import { countWarmStatements } from '../support/statements.ts'

const LIST =
  'query ($size: Int) { users(first: $size) { nodes { email signInLimits { channel sentCodes } } } }'

describe('User.signInLimits', () => {
  test('has the limits of each user of a list, read by one statement', async ({
    ctx,
    tenant,
    token,
    email,
    server,
  }) => {
    for (const name of ['ada', 'bob', 'cleo']) await createUser(ctx, { email: email(name) })
    await createUser(ctx, { name: 'Without an address' })
    const { body } = await server.post(tenant, token, LIST, { size: 10 })
    const limits = [{ channel: 'EMAIL', sentCodes: 0 }]
    expect(body.data.users.nodes).toEqual([
      ...['ada', 'bob', 'cleo'].map((name) => ({ email: email(name), signInLimits: limits })),
      { email: null, signInLimits: [] },
    ])
    const post = (size: number) => () => server.post(tenant, token, LIST, { size })
    const count = (size: number) => countWarmStatements(post(size), post(size))
    expect(await count(4)).toBe(await count(1))
  })

  test('requires users:read for the own user too, and has none of another tenant', async ({
    ctx,
    tenant,
    email,
    server,
  }) => {
    const { id } = await createUser(ctx, { email: email('dora') })
    const query = `{ node(id: "${id}") { ... on User { signInLimits { channel } } } }`
    const blind = await server.post(tenant, await tokenFor(tenant, ['sessions:read']), query)
    expect(blind.body).toMatchObject({
      data: { node: null },
      errors: [{ message: 'Requires scope users:read.' }],
    })
    const other = await newTenant()
    expect((await server.post(other, await tokenFor(other), query)).body).toEqual({ data: { node: null } })
  })
})
