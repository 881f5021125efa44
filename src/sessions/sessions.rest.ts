import { DoneShape, defineRestRoute, type RestRoute, toDoneBody } from '../rest/route.ts'
import { toPageEnvelope } from '../schema/page.ts'
import { createListShape } from '../schema/response-shapes.ts'
import { toUserBody } from '../users/user-body.ts'
import { authenticateSession } from './authenticate-session.ts'
import { revokeSession, revokeUserSessions } from './revoke-sessions.ts'
import { SessionFilter, SessionOrder } from './session-list.fields.ts'
import { listSessions } from './session-list.ts'
import {
  AuthenticatedSessionShape,
  AuthenticateSession,
  SessionShape,
  toSessionBody,
} from './sessions.fields.ts'
import { getSession, listUserSessions } from './sessions.ts'

export const sessionRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'GET',
    path: '/sessions',
    operationId: 'listSessions',
    summary: 'The active sessions of the tenant.',
    scope: 'sessions:read',
    paged: true,
    filter: SessionFilter,
    query: SessionOrder,
    response: createListShape('sessions', SessionShape),
    handle: async (ctx, { paging, filter, query }) =>
      toPageEnvelope(
        ctx,
        await listSessions(ctx, { ...paging, ...query, filter }),
        'sessions',
        toSessionBody,
      ),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/users/:userId/sessions',
    operationId: 'listUserSessions',
    summary: 'The active sessions of a user.',
    scope: 'sessions:read',
    paged: true,
    response: createListShape('sessions', SessionShape),
    handle: async (ctx, { params, paging }) =>
      toPageEnvelope(ctx, await listUserSessions(ctx, params.userId, paging), 'sessions', toSessionBody),
  }),
  defineRestRoute({
    method: 'DELETE',
    path: '/users/:userId/sessions',
    operationId: 'revokeUserSessions',
    summary: "Ends all active sessions of a user. The caller must have all scopes of the user's roles.",
    scope: 'sessions:write',
    response: DoneShape,
    handle: async (ctx, { params }) => {
      await revokeUserSessions(ctx, params.userId)
      return toDoneBody(ctx, 'The sessions of the user are revoked.')
    },
  }),
  defineRestRoute({
    method: 'POST',
    path: '/sessions/authenticate',
    operationId: 'authenticateSession',
    summary: 'Authenticates a session token; refreshes and rotates it on request.',
    scope: 'sessions:write',
    body: AuthenticateSession,
    response: AuthenticatedSessionShape,
    handle: async (ctx, { body }) => {
      const { session, sessionToken, user } = await authenticateSession(ctx, body)
      return { session: toSessionBody(session), sessionToken, user: toUserBody(ctx, user) }
    },
  }),
  defineRestRoute({
    method: 'GET',
    path: '/sessions/:sessionId',
    operationId: 'getSession',
    summary: 'An active session.',
    scope: 'sessions:read',
    response: SessionShape,
    handle: async (ctx, { params }) => toSessionBody(await getSession(ctx, params.sessionId)),
  }),
  defineRestRoute({
    method: 'DELETE',
    path: '/sessions/:sessionId',
    operationId: 'revokeSession',
    summary:
      "Ends an active session with its grants and codes. The caller must have all scopes of the user's roles.",
    scope: 'sessions:write',
    response: DoneShape,
    handle: async (ctx, { params }) => {
      await revokeSession(ctx, params.sessionId)
      return toDoneBody(ctx, 'The session is revoked.')
    },
  }),
]
