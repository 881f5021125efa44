import type { Call, Gql, Rest } from '../call.ts'
import { objectQuery, readGone, unknownId, userListQuery } from '../queries.ts'

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
  getCredential: ['present', unknownId('cred')].map((id) => ({
    title: id,
    rest: (fixture): Rest => ['GET', `/credentials/${id === 'present' ? fixture.credentialId : id}`],
    gql: (fixture): Gql => ({
      ...objectQuery('credential', 'Credential', 'ID'),
      variables: { id: id === 'present' ? fixture.credentialId : id },
    }),
  })),
  revokeCredential: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ credentialId }): Rest => [
      'DELETE',
      `/credentials/${which === 'present' ? credentialId : unknownId('cred')}`,
    ],
    gql: ({ credentialId }): Gql => ({
      mutation: 'revokeCredential',
      input: { credentialId: which === 'present' ? credentialId : unknownId('cred') },
      read: readGone,
    }),
  })),
}
