import type { Call, Gql, Rest } from '../call.ts'
import { unknownId, userListQuery } from '../queries.ts'

export const CREDENTIAL_OPERATIONS: Record<string, Call[]> = {
  createCredentialEnrollmentToken: [{ send: false }, { send: true }].map((input) => ({
    title: JSON.stringify(input),
    rest: ({ userId }): Rest => ['POST', `/users/${userId}/credentials/enrollment-tokens`, input],
    gql: ({ userId }): Gql => ({
      mutation: 'createCredentialEnrollmentToken',
      input: { userId, type: 'PUBLIC_KEY', ...input },
      read: (payload) => payload,
    }),
  })),
  listUserCredentials: ['present', unknownId('user')].map((id) => ({
    title: id,
    rest: (fixture): Rest => ['GET', `/users/${id === 'present' ? fixture.userId : id}/credentials`],
    gql: (fixture): Gql =>
      userListQuery('credentials', 'Credential', 'credentials')(id === 'present' ? fixture.userId : id),
  })),
}
