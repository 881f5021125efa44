import type { Json } from '../../support/json.ts'
import type { Call, Gql, Rest } from '../call.ts'
import { EMAIL, type Fixture, PHONE } from '../fixture.ts'
import { objectQuery, pageQuery, readGone, unknownId } from '../queries.ts'

const NEW_USER = {
  name: 'Cleo',
  givenName: 'Cleo',
  email: 'Cleo@Parity.example',
  locked: true,
  address: { country: 'CH' },
}
const INVALID_USER = {
  email: 'no address',
  birthdate: '1815-13-10',
  emailVerified: true,
  website: 'javascript:x',
}
const users = pageQuery('users', 'User', 'users')

export const USER_OPERATIONS: Record<string, Call[]> = {
  createUser: [
    ...[INVALID_USER, { email: EMAIL, phoneNumber: PHONE }, NEW_USER, {}].map((fields) => ({
      title: Object.keys(fields).join(', ') || 'nothing',
      rest: (): Rest => ['POST', '/users', fields],
      gql: (): Gql => ({ mutation: 'createUser', input: fields }),
    })),
  ],
  listUsers: [{ pageSize: 0 }, { page: -1, pageSize: 1001 }, {}, { page: 1, pageSize: 1 }].map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/users?${new URLSearchParams(page as Record<string, string>)}`],
    gql: (): Gql => users(page),
  })),
  getUser: ['present', unknownId('user')].map((id) => ({
    title: id,
    rest: (fixture): Rest => ['GET', `/users/${id === 'present' ? fixture.userId : id}`],
    gql: (fixture): Gql => ({
      ...objectQuery('user', 'User', 'ID'),
      variables: { id: id === 'present' ? fixture.userId : id },
    }),
  })),
  updateUser: [
    ...[
      INVALID_USER,
      { email: 'bob@parity.example' },
      { locked: true, name: '', address: { region: 'x' } },
    ].map((fields) => ({
      title: Object.keys(fields).join(', '),
      rest: (fixture: Fixture): Rest => ['PATCH', `/users/${fixture.userId}`, fields],
      gql: (fixture: Fixture): Gql => ({
        mutation: 'updateUser',
        input: { userId: fixture.userId, ...fields },
      }),
    })),
    {
      title: 'an unknown id',
      rest: () => ['PATCH', `/users/${unknownId('user')}`, { name: 'x' }],
      gql: () => ({ mutation: 'updateUser', input: { userId: unknownId('user'), name: 'x' } }),
    },
  ],
  deleteUser: [
    {
      title: 'an unknown id',
      rest: () => ['DELETE', `/users/${unknownId('user')}`],
      gql: () => ({ mutation: 'deleteUser', input: { userId: unknownId('user') }, read: readGone }),
    },
    {
      title: 'a user with every kind of object',
      rest: ({ userId }) => ['DELETE', `/users/${userId}`],
      gql: ({ userId }) => ({ mutation: 'deleteUser', input: { userId }, read: readGone }),
    },
  ],
  getUserByEmail: ['ADA@parity.example', 'nobody@parity.example', 'no address'].map((email) => ({
    title: email,
    rest: (): Rest => ['GET', `/users/by-email?email=${encodeURIComponent(email)}`],
    gql: (): Gql => ({
      ...objectQuery('userByEmail', 'User', 'EmailAddress', 'email'),
      variables: { id: email },
    }),
  })),
  getUserByPhoneNumber: ['+41 79 111 22 33', '+41790000000', 'x'].map((number) => ({
    title: number,
    rest: (): Rest => ['GET', `/users/by-phone-number?phoneNumber=${encodeURIComponent(number)}`],
    gql: (): Gql => ({
      ...objectQuery('userByPhoneNumber', 'User', 'PhoneNumber', 'phoneNumber'),
      variables: { id: number },
    }),
  })),
  getUserDeletion: ['present', unknownId('user')].map((id) => ({
    title: id,
    rest: ({ userId }): Rest => ['GET', `/users/${id === 'present' ? userId : id}/deletion`],
    gql: ({ userId }): Gql => ({
      query: 'query ($id: ID!) { user(id: $id) { deletion { requestedAt dueAt } } }',
      variables: { id: id === 'present' ? userId : id },
      read: ({ user }) => user && { deletion: user.deletion },
    }),
  })),
  getRoles: [
    {
      title: 'all',
      rest: (): Rest => ['GET', '/roles'],
      gql: (): Gql => ({
        query: '{ result: roles { role scopes { scope description } } }',
        read: ({ result }) => ({
          roles: result.map(({ role, scopes }: Json) => ({ role, scopes })),
        }),
      }),
    },
  ],
  setUserRoles: [['support', 'auditor'], []].map((roles) => ({
    title: roles.join(', ') || 'none',
    rest: ({ userId }): Rest => ['PUT', `/users/${userId}/roles`, { roles }],
    gql: ({ userId }): Gql => ({
      mutation: 'setUserRoles',
      input: { userId, roles },
      read: ({ user }) => ({ roles: user.roles }),
    }),
  })),
}
