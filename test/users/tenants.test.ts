import { describe, expect } from 'vitest'
import { newTenant, tokenFor } from '../support/actors.ts'
import { test } from '../support/fixtures.ts'

describe('users of two tenants', () => {
  test('treats an id of another tenant as unknown', async ({ rest, gql, create }) => {
    const other = await newTenant()
    const there = { tenant: other, token: await tokenFor(other) }
    const user = await create('/users', { email: 'same@example.com', phoneNumber: '+43158800001' }, there)
    const unknownId = 'user_01m7xeb1sbendby702xerkqv3p'
    const calls: [string, string, object?][] = [
      ['GET', ''],
      ['PATCH', '', { name: 'Mine' }],
      ['DELETE', ''],
    ]
    for (const [method, path, body] of calls) {
      const [foreign, unknown] = await Promise.all(
        [user.id, unknownId].map((id) => rest(method, `/users/${id}${path}`, body)),
      )
      expect(foreign?.status).toBe(404)
      expect({ ...foreign?.body, requestId: '' }).toEqual({ ...unknown?.body, requestId: '' })
    }
    for (const field of [
      `lockUser(input: { userId: "${user.id}" })`,
      `deleteUser(input: { userId: "${user.id}" })`,
      `updateUser(input: { userId: "${user.id}", name: "x" })`,
    ])
      expect((await gql(`mutation { result: ${field} { __typename } }`)).body).toEqual({
        data: { result: { __typename: 'NotFoundError' } },
      })
    expect((await gql(`{ user(id: "${user.id}") { id } node(id: "${user.id}") { id } }`)).body).toEqual({
      data: { user: null, node: null },
    })
    expect((await rest('GET', '/users/by-email?email=same@example.com')).status).toBe(404)
    // Their tokens are no good here, and unique is unique in a tenant.
    expect((await rest('GET', `/users/${user.id}`, undefined, { token: there.token })).status).toBe(401)
    await create('/users', { email: 'same@example.com', phoneNumber: '+43158800001' })
    expect((await rest('GET', `/users/${user.id}`, undefined, there)).body).toEqual(user)
  })
})
