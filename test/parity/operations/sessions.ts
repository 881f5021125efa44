import type { Call, Gql, Rest } from '../call.ts'
import { objectQuery, PAGE, readGone, readPage, select, unknownId, userListQuery } from '../queries.ts'

export const SESSION_OPERATIONS: Record<string, Call[]> = {
  listUserSessions: ['present', unknownId('user')].map((id) => ({
    title: id,
    rest: (fixture): Rest => ['GET', `/users/${id === 'present' ? fixture.userId : id}/sessions`],
    gql: (fixture): Gql =>
      userListQuery('sessions', 'Session', 'sessions')(id === 'present' ? fixture.userId : id),
  })),
  authenticateSession: [
    { sessionToken: 'wrong' },
    { sessionToken: '', sessionExpirationMinutes: 129_601 },
    {
      sessionExpirationMinutes: 60,
      rotateSessionToken: true,
      metadata: { ipAddress: '192.0.2.1', userAgent: 'x' },
    },
  ].map((input) => ({
    title: JSON.stringify(input),
    rest: ({ sessionToken }): Rest => ['POST', '/sessions/authenticate', { sessionToken, ...input }],
    gql: ({ sessionToken }): Gql => ({
      mutation: 'authenticateSession',
      input: { sessionToken, ...input },
      read: (payload) => payload,
    }),
  })),
  getSession: ['present', unknownId('session')].map((id) => ({
    title: id,
    rest: (fixture): Rest => ['GET', `/sessions/${id === 'present' ? fixture.sessionId : id}`],
    gql: (fixture): Gql => ({
      ...objectQuery('session', 'Session', 'ID'),
      variables: { id: id === 'present' ? fixture.sessionId : id },
    }),
  })),
  revokeSession: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ sessionId }): Rest => [
      'DELETE',
      `/sessions/${which === 'present' ? sessionId : unknownId('session')}`,
    ],
    gql: ({ sessionId }): Gql => ({
      mutation: 'revokeSession',
      input: { sessionId: which === 'present' ? sessionId : unknownId('session') },
      read: readGone,
    }),
  })),
  revokeUserSessions: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ userId }): Rest => [
      'DELETE',
      `/users/${which === 'present' ? userId : unknownId('user')}/sessions`,
    ],
    gql: ({ userId }): Gql => ({
      mutation: 'revokeUserSessions',
      input: { userId: which === 'present' ? userId : unknownId('user') },
      read: readGone,
    }),
  })),
  listSessions: [{ userId: 'present' }, { userId: 'present', clientId: 'x' }, {}].map((filter) => ({
    title: JSON.stringify(filter),
    rest: ({ userId }): Rest => [
      'GET',
      `/sessions?${new URLSearchParams({ ...filter, ...(filter.userId && { userId }) } as Record<string, string>)}`,
    ],
    gql: ({ userId }): Gql => ({
      query: `query($filter: SessionFilter) { result: sessions(filter: $filter) { ${PAGE} nodes ${select('Session')} } }`,
      variables: { filter: { ...filter, ...(filter.userId && { userId }) } },
      read: readPage('sessions'),
    }),
  })),
}
