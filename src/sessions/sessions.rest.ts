import { toEnvelope } from '../page.ts'
import { Done, type RestRoute, restRoute, toDone } from '../rest/route.ts'
import { listShape } from '../shapes.ts'
import { toUser } from '../users/user-body.ts'
import { authenticateSession } from './authenticate-session.ts'
import { SessionFilter, SessionOrder } from './session-list.fields.ts'
import { listSessions } from './session-list.ts'
import { AuthenticatedSessionShape, AuthenticateSession, SessionShape, toSession } from './sessions.fields.ts'
import { getSession, listUserSessions, revokeSession, revokeUserSessions } from './sessions.ts'

export const sessionRoutes: readonly RestRoute[] = [
  restRoute({
    method: 'GET',
    path: '/sessions',
    operationId: 'listSessions',
    summary: 'The active sessions of the tenant.',
    scope: 'sessions:read',
    paged: true,
    filter: SessionFilter,
    query: SessionOrder,
    response: listShape('sessions', SessionShape),
    handle: async (ctx, { paging, filter, query }) =>
      toEnvelope(await listSessions(ctx, { ...paging, ...query, filter }), 'sessions', toSession),
  }),
  restRoute({
    method: 'GET',
    path: '/users/:userId/sessions',
    operationId: 'listUserSessions',
    summary: 'The active sessions of a user.',
    scope: 'sessions:read',
    paged: true,
    response: listShape('sessions', SessionShape),
    handle: async (ctx, { params, paging }) =>
      toEnvelope(await listUserSessions(ctx, params.userId, paging), 'sessions', toSession),
  }),
  restRoute({
    method: 'DELETE',
    path: '/users/:userId/sessions',
    operationId: 'revokeUserSessions',
    summary: 'Ends all active sessions of a user.',
    scope: 'sessions:write',
    response: Done,
    handle: async (ctx, { params }) => {
      await revokeUserSessions(ctx, params.userId)
      return toDone(ctx, 'The sessions of the user are revoked.')
    },
  }),
  restRoute({
    method: 'POST',
    path: '/sessions/authenticate',
    operationId: 'authenticateSession',
    summary: 'Authenticates a session token; refreshes and rotates it when asked to.',
    scope: 'sessions:write',
    body: AuthenticateSession,
    response: AuthenticatedSessionShape,
    handle: async (ctx, { body }) => {
      const { session, sessionToken, user } = await authenticateSession(ctx, body)
      return { session: toSession(session), sessionToken, user: toUser(ctx, user) }
    },
  }),
  restRoute({
    method: 'GET',
    path: '/sessions/:sessionId',
    operationId: 'getSession',
    summary: 'An active session.',
    scope: 'sessions:read',
    response: SessionShape,
    handle: async (ctx, { params }) => toSession(await getSession(ctx, params.sessionId)),
  }),
  restRoute({
    method: 'DELETE',
    path: '/sessions/:sessionId',
    operationId: 'revokeSession',
    summary: 'Ends an active session with what hangs on it.',
    scope: 'sessions:write',
    response: Done,
    handle: async (ctx, { params }) => {
      await revokeSession(ctx, params.sessionId)
      return toDone(ctx, 'The session is revoked.')
    },
  }),
]
