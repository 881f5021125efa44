import { InvalidCredential, NotFound } from '../core/errors.ts'
import { defineList, defineNestedList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import type { RestRoute } from '../rest/route.ts'
import { toUserBody } from '../users/user-body.ts'
import { USER } from '../users/users.operations.ts'
import { authenticateSession } from './authenticate-session.ts'
import { revokeSession, revokeUserSessions } from './revoke-sessions.ts'
import { SESSION_FILTER, SESSION_ORDER } from './session-list.fields.ts'
import { listSessions } from './session-list.ts'
import {
  AuthenticatedSessionShape,
  AuthenticateSession,
  REVOKED_SESSION,
  REVOKED_SESSIONS,
  toSessionBody,
} from './sessions.fields.ts'
import { SESSION } from './sessions.graphql.ts'
import { getSession, listUserSessions } from './sessions.ts'

const { sessionToken } = AuthenticatedSessionShape.shape

export const sessionOperations: readonly RestRoute[] = [
  ...defineList({
    name: 'listSessions',
    summary: 'The active sessions of the tenant, by default in order of their start.',
    resource: SESSION,
    filter: SESSION_FILTER,
    order: SESSION_ORDER,
    path: '/sessions',
    run: (ctx, args) => listSessions(ctx, args),
  }),
  ...defineNestedList({
    name: 'listUserSessions',
    summary: 'The active sessions of a user.',
    resource: SESSION,
    target: 'userId',
    path: '/users/:userId/sessions',
    run: listUserSessions,
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
