import { describe, expect } from 'vitest'
import { test } from '../support/fixtures.ts'
import { invalidFields } from '../support/issues.ts'
import { toOutcome, USER_FIELDS } from '../support/user-writers.ts'

describe('a user', () => {
  test('returns a user by id, and by email address and phone number in any spelling', async ({
    tenant,
    rest,
    gql,
    create,
  }) => {
    const user = await create('/users', {
      email: `Find.Me@${tenant}.example`,
      phoneNumber: '+43 1 5880 1234',
    })
    const paths = [
      `/users/${user.id}`,
      `/users/by-email?email=${encodeURIComponent(`find.me@${tenant}.EXAMPLE`)}`,
      `/users/by-phone-number?phoneNumber=${encodeURIComponent('tel:+43-1-5880-1234')}`,
      `/users/by-phone-number?phoneNumber=${encodeURIComponent('\u202a+٤٣ 1 5880—1234\u202c')}`,
      `/users/by-email?email=${encodeURIComponent(` find.me@${tenant}.example\u200b`)}`,
      // As people type it into curl.
      '/users/by-phone-number?phoneNumber=+43158801234',
    ]
    for (const path of paths) expect(await rest('GET', path)).toMatchObject({ status: 200, body: user })
    const { body } = await gql(
      `query ($id: ID!, $email: EmailAddress!, $phone: PhoneNumber!) { a: user(id: $id) { ${USER_FIELDS} } b: userByEmail(email: $email) { ${USER_FIELDS} } c: userByPhoneNumber(phoneNumber: $phone) { ${USER_FIELDS} } node(id: $id) { id ... on User { name } } }`,
      { id: user.id, email: `FIND.ME@${tenant}.example`, phone: '+43158801234' },
    )
    expect(body).toEqual({ data: { a: user, b: user, c: user, node: { id: user.id, name: null } } })
  })

  test.for<[path: string, message: string]>([
    ['/users/user_01m7xeb1sbendby702xerkqv3p', 'No such user.'],
    ['/users/nonsense', 'No such user.'],
    ['/users/session_01m7xeb1sbendby702xerkqv3p', 'No such user.'],
    ['/users/by-email?email=unknown@example.com', 'No such user.'],
    ['/users/by-phone-number?phoneNumber=%2B14155550000', 'No such user.'],
  ])('returns 404 for %s', async ([path, message], { rest }) => {
    const { status, body } = await rest('GET', path)
    expect(status).toBe(404)
    expect(body).toEqual({ message, requestId: expect.any(String), fields: [], code: 'NOT_FOUND' })
  })

  test.for<[string, [string, string]]>([
    ['/users/by-email', ['email', 'is required']],
    [
      '/users/by-email?email=invalid',
      ['email', 'must be an e-mail address such as name@example.com (RFC 5322 addr-spec)'],
    ],
    [
      '/users/by-email?email=',
      ['email', 'must be an e-mail address such as name@example.com (RFC 5322 addr-spec)'],
    ],
    ['/users/by-phone-number', ['phoneNumber', 'is required']],
    [
      '/users/by-email?phoneNumber=1&email=a@example.com',
      ['phoneNumber', 'is not a parameter of this request'],
    ],
  ])('returns 400 for %s', async ([path, issue], { rest }) => {
    expect(toOutcome(await rest('GET', path))).toEqual(invalidFields(issue))
  })

  test('returns null for an unknown user and BAD_USER_INPUT for an id of another type over GraphQL', async ({
    gql,
  }) => {
    const { body } = await gql(
      '{ a: user(id: "user_01m7xeb1sbendby702xerkqv3p") { id } b: userByEmail(email: "unknown@example.com") { id } c: user(id: "client_x") { id } }',
    )
    expect(body.data).toEqual({ a: null, b: null, c: null })
    expect(body.errors).toMatchObject([{ path: ['c'], extensions: { code: 'BAD_USER_INPUT' } }])
  })
})
