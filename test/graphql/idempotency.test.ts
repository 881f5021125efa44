import { randomUUID } from 'node:crypto'
import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { takeStoredAnswer } from '../../src/coordination/person-budgets.ts'
import { createUser } from '../../src/users/users.ts'
import { tokenFor } from '../support/actors.ts'
import { isReplayed, newEmail, otherCaller, test } from '../support/idempotency.ts'

const CREATE = `mutation Create($email: EmailAddress) { createUser(input: { email: $email }) {
  __typename ... on CreateUserPayload { user { id email } } ... on ConflictError { fields { field } } } }`

describe('a mutation with an Idempotency-Key', () => {
  test('is executed once; its repetition returns the same answer', async ({ postGraphql }) => {
    const [key, email] = [randomUUID(), newEmail()]
    const first = await postGraphql(CREATE, { email }, { key })
    const again = await postGraphql(CREATE, { email }, { key })
    expect(first.body.data.createUser).toMatchObject({ __typename: 'CreateUserPayload', user: { email } })
    expect([again.status, again.text, isReplayed(first), isReplayed(again)]).toEqual([
      200,
      first.text,
      false,
      true,
    ])
    const other = await postGraphql(CREATE, { email: newEmail() }, { key })
    expect([other.status, other.body.errors[0].extensions, other.body.data]).toEqual([
      409,
      {
        code: 'CONFLICT',
        requestId: expect.any(String),
        fields: [
          {
            field: 'Idempotency-Key',
            description: 'was used for another request, or with a token of other scopes',
          },
        ],
      },
      undefined,
    ])
  })

  test('is not executed again when its answer is too large to be stored, or its caller has stored too much', async ({
    tenant,
    events,
    postGraphql,
  }) => {
    const bearer = await otherCaller(tenant, ['users:write', 'users:read'])
    const userMetadata = { text: '€'.repeat(20_000) }
    const large = `mutation ($input: CreateUserInput!) { createUser(input: $input) {
      ... on CreateUserPayload { user { ${['a', 'b', 'c', 'd', 'e'].map((name) => `${name}: userMetadata`).join(' ')} } } } }`
    const count = (await events()).length
    const sendTwice = async (document: string, variables: object) => {
      const key = randomUUID()
      const first = await postGraphql(document, variables, { key, bearer })
      return [first.status, (await postGraphql(document, variables, { key, bearer })).status]
    }
    expect(await sendTwice(large, { input: { userMetadata } })).toEqual([200, 409])
    const actor = { kind: 'client' as const, tenant, clientId: decodeJwt(bearer).sub ?? '' }
    takeStoredAnswer({ tenant, actor, ip: null }, 200e6)
    expect(await sendTwice(CREATE, { email: newEmail() })).toEqual([200, 409])
    expect(await events()).toHaveLength(count + 2)
  })

  test('is executed once by twenty parallel calls', async ({ events, postGraphql }) => {
    const [key, email] = [randomUUID(), newEmail()]
    const count = (await events()).length
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => postGraphql(CREATE, { email }, { key })),
    )
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(1)
    for (const { status, headers } of answers.filter((answer) => answer.status !== 200))
      expect([status, headers.get('retry-after')]).toEqual([409, '1'])
    expect(await events()).toHaveLength(count + 1)
  })

  test('of several creations is repeated as a whole, with the errors of its fields', async ({
    tenant,
    postGraphql,
  }) => {
    const [key, email] = [randomUUID(), newEmail()]
    const document = `mutation ($email: EmailAddress) {
      a: createUser(input: { email: $email }) { ... on CreateUserPayload { user { id } } }
      ...Second }
      fragment Second on Mutation { b: createUser(input: { email: $email }) { __typename } }`
    const sent = { key, bearer: await tokenFor(tenant, ['users:write']) }
    const first = await postGraphql(document, { email }, sent)
    expect(first.body).toMatchObject({
      errors: [{ path: ['a', 'user'], extensions: { code: 'FORBIDDEN' } }],
      data: { a: { user: null }, b: { __typename: 'ConflictError' } },
    })
    const again = await postGraphql(document, { email }, sent)
    expect([again.status, again.text, isReplayed(again)]).toEqual([200, first.text, true])
  })

  test('releases its key after a missing scope and keeps it after a conflict', async ({
    tenant,
    postGraphql,
  }) => {
    const [key, email] = [randomUUID(), newEmail()]
    const reader = await tokenFor(tenant, ['users:read'])
    expect(
      (await postGraphql(CREATE, { email }, { key, bearer: reader })).body.errors[0].extensions.code,
    ).toBe('FORBIDDEN')
    expect((await postGraphql(CREATE, { email }, { key })).body.data.createUser.__typename).toBe(
      'CreateUserPayload',
    )
    const taken = randomUUID()
    const rejected = await postGraphql(CREATE, { email }, { key: taken })
    expect(rejected.body.data.createUser).toEqual({
      __typename: 'ConflictError',
      fields: [{ field: 'email' }],
    })
    expect(isReplayed(await postGraphql(CREATE, { email }, { key: taken }))).toBe(true)
  })

  test('is rejected if it contains other operations than creations; without creations it ignores the key', async ({
    ctx,
    events,
    postGraphql,
  }) => {
    const user = await createUser(ctx, { name: 'Ada' })
    const mixed = `mutation ($userId: ID!) { createUser(input: {}) { __typename }
      lockUser(input: { userId: $userId }) { __typename } }`
    const count = (await events()).length
    const rejected = await postGraphql(mixed, { userId: user.id }, { key: 'k' })
    expect(rejected.body.errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: [
        { field: 'Idempotency-Key', description: 'applies to create operations only, unlike lockUser' },
      ],
    })
    expect(await events()).toHaveLength(count)
    const lock = 'mutation ($userId: ID!) { lockUser(input: { userId: $userId }) { __typename } }'
    for (const key of ['k', 'not even a key'])
      expect((await postGraphql(lock, { userId: user.id }, { key })).body.data.lockUser.__typename).toBe(
        'LockUserPayload',
      )
    expect((await postGraphql('{ viewer { scopes } }', {}, { key: 'k' })).status).toBe(200)
  })

  test('does not share answers with a REST request', async ({ post, postGraphql }) => {
    const key = randomUUID()
    await post('/users', {}, { key })
    expect((await postGraphql(CREATE, {}, { key })).status).toBe(409)
  })
})
