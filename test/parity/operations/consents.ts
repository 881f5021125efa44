import type { Call, Gql, Rest } from '../call.ts'
import { readGone, unknownId, userListQuery } from '../queries.ts'

export const CONSENT_OPERATIONS: Record<string, Call[]> = {
  listUserConsents: ['present', unknownId('user')].map((id) => ({
    title: id,
    rest: (fixture): Rest => ['GET', `/users/${id === 'present' ? fixture.userId : id}/consents`],
    gql: (fixture): Gql =>
      userListQuery('consents', 'Consent', 'consents')(id === 'present' ? fixture.userId : id),
  })),
  revokeUserConsent: [
    { userId: unknownId('user') },
    { clientId: unknownId('client') },
    {},
    {}, // already revoked
  ].map((other) => ({
    title: JSON.stringify(other),
    rest: ({ userId, clientId }): Rest => {
      const ids = { userId, clientId, ...other }
      return ['DELETE', `/users/${ids.userId}/consents/${ids.clientId}`]
    },
    gql: ({ userId, clientId }): Gql => ({
      mutation: 'revokeUserConsent',
      input: { userId, clientId, ...other },
      read: readGone,
    }),
  })),
}
