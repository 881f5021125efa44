import { describe, expect } from 'vitest'
import { toTypes } from '../support/events.ts'
import { test } from '../support/fixtures.ts'

describe('the deletion of a user', () => {
  test('returns 200 with the shape of an error body, and 404 afterwards', async ({
    tenant,
    rest,
    create,
    events,
  }) => {
    const user = await create('/users', { email: `gone@${tenant}.example` })
    const { status, body } = await rest('DELETE', `/users/${user.id}`)
    expect(status).toBe(200)
    expect(body).toEqual({ message: 'The user was deleted.', requestId: expect.any(String), fields: [] })
    const again = await rest('DELETE', `/users/${user.id}`)
    expect([again.status, again.body.code]).toEqual([404, 'NOT_FOUND'])
    for (const [method, sent] of [
      ['GET', undefined],
      ['PATCH', {}],
    ] as const)
      expect((await rest(method, `/users/${user.id}`, sent)).status).toBe(404)
    // The address is free again.
    await create('/users', { email: `gone@${tenant}.example` })
    expect(toTypes(await events({ userId: user.id }))).toEqual(['user.created', 'user.deleted'])
  })

  test('returns the deleted id over GraphQL, and NotFoundError afterwards', async ({ gql, create }) => {
    const user = await create('/users')
    const remove =
      'mutation ($id: ID!) { deleteUser(input: { userId: $id }) { __typename ... on DeleteUserPayload { deletedUserId } ... on UserError { code message } } }'
    expect((await gql(remove, { id: user.id })).body).toEqual({
      data: { deleteUser: { __typename: 'DeleteUserPayload', deletedUserId: user.id } },
    })
    expect((await gql(remove, { id: user.id })).body).toEqual({
      data: { deleteUser: { __typename: 'NotFoundError', code: 'NOT_FOUND', message: 'No such user.' } },
    })
  })
})
