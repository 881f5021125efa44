import { InvalidCredential, NotFound } from '../core/errors.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { toPageEnvelope } from '../schema/page.ts'
import { createListShape } from '../schema/response-shapes.ts'
import { toUserBody } from '../users/user-body.ts'
import { USER } from '../users/users.operations.ts'
import { type AuthenticatedSession, authenticateSession } from './authenticate-session.ts'
import { revokeSession, revokeUserSessions } from './revoke-sessions.ts'
import { SessionFilter, SessionOrder } from './session-list.fields.ts'
import { listSessions } from './session-list.ts'
import {
  AuthenticatedSessionShape,
  AuthenticateSession,
  REVOKED_SESSION,
  REVOKED_SESSIONS,
  SessionShape,
  toSessionBody,
} from './sessions.fields.ts'
import { SessionRef } from './sessions.graphql.ts'
import { getSession, listUserSessions } from './sessions.ts'

export const SESSION = defineResource<AuthenticatedSession['session']>({
  member: 'session',
  ref: SessionRef as never,
  scope: 'sessions:read',
  shape: SessionShape,
})

const { sessionToken } = AuthenticatedSessionShape.shape

/** The lists of GraphQL select columns and relations: sessions.graphql.ts and session-list.graphql.ts. */
export const sessionOperations: readonly RestRoute[] = [
  defineRestRoute({
    method: 'GET',
    path: '/sessions',
    operationId: 'listSessions',
    summary: 'The active sessions of the tenant, by default in order of their start.',
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
  ...defineMutation({
    name: 'revokeUserSessions',
    summary: "Ends all active sessions of a user. The caller must have all scopes of the user's roles.",
    scope: 'sessions:write',
    targets: ['userId'],
    errors: [NotFound],
    output: REVOKED_SESSIONS,
    rest: {
      method: 'DELETE',
      path: '/users/:userId/sessions',
      message: 'The sessions of the user are revoked.',
    },
    run: (ctx, { userId }) => revokeUserSessions(ctx, userId),
  }),
  ...defineMutation({
    name: 'authenticateSession',
    summary: 'Authenticates a session token; refreshes and rotates it on request.',
    scope: 'sessions:write',
    input: AuthenticateSession,
    errors: [InvalidCredential],
    output: { session: SESSION, sessionToken, user: USER },
    rest: {
      method: 'POST',
      path: '/sessions/authenticate',
      response: AuthenticatedSessionShape,
      toBody: (ctx, { session, user, sessionToken }) => ({
        session: toSessionBody(session),
        sessionToken,
        user: toUserBody(ctx, user),
      }),
    },
    run: (ctx, _ids, input) => authenticateSession(ctx, input),
  }),
  ...defineLookup({
    name: 'getSession',
    field: 'session',
    summary: 'An active session.',
    resource: SESSION,
    target: 'sessionId',
    path: '/sessions/:sessionId',
    run: getSession,
  }),
  ...defineMutation({
    name: 'revokeSession',
    summary:
      "Ends an active session with its grants and codes. The caller must have all scopes of the user's roles.",
    scope: 'sessions:write',
    targets: ['sessionId'],
    errors: [NotFound],
    output: REVOKED_SESSION,
    rest: { method: 'DELETE', path: '/sessions/:sessionId', message: 'The session is revoked.' },
    run: (ctx, { sessionId }) => revokeSession(ctx, sessionId),
  }),
]
