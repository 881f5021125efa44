import { InvalidCredential, InvalidInput, NotFound } from '../core/errors.ts'
import type { Session } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { requireNodeId } from '../graphql/node.graphql.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { UserRef } from '../users/users.graphql.ts'
import { type AuthenticatedSession, authenticateSession } from './authenticate-session.ts'
import { revokeSession, revokeUserSessions } from './revoke-sessions.ts'
import { DEVICE_TOKEN_DESCRIPTION } from './sessions.fields.ts'
import { SessionRef } from './sessions.graphql.ts'

export const RequestMetadataInput = builder.inputType('RequestMetadataInput', {
  description: "Metadata of the user's request, for fraud detection.",
  fields: (t) => ({
    deviceToken: t.string({ description: DEVICE_TOKEN_DESCRIPTION }),
    userAgent: t.string({ description: 'User-Agent of the browser or application.' }),
    ipAddress: t.string({ description: 'IPv4 or IPv6 address of the user.' }),
  }),
})

/** The result of authenticateSession and authenticatePasscode. */
export const AuthenticateSessionPayload = builder
  .objectRef<Omit<AuthenticatedSession, 'session'> & { session: AuthenticatedSession['session'] | null }>(
    'AuthenticateSessionPayload',
  )
  .implement({
    ...withPublicAccess('The authenticated user and the session.'),
    fields: (t) => ({
      session: t.field({
        type: SessionRef,
        nullable: true,
        description:
          'The session; null when none was requested, and, with an error, for callers without sessions:read.',
        resolve: ({ session }) => session as Session | null,
      }),
      sessionToken: t.exposeString('sessionToken', {
        nullable: true,
        description: 'The token of a new session, or the new token of a rotated session; otherwise null.',
      }),
      user: t.field({
        type: UserRef,
        nullable: true,
        description: 'The user; null, with an error, for callers without users:read.',
        resolve: ({ user }) => user,
      }),
    }),
  })

const RevokeSessionPayload = builder
  .objectRef<{ revokedSessionId: string }>('RevokeSessionPayload')
  .implement({
    ...withPublicAccess('The session has ended.'),
    fields: (t) => ({
      revokedSessionId: t.exposeID('revokedSessionId', { description: 'Id of the session.' }),
    }),
  })

const RevokeUserSessionsPayload = builder
  .objectRef<{ revokedSessionIds: string[] }>('RevokeUserSessionsPayload')
  .implement({
    ...withPublicAccess('The sessions of the user have ended.'),
    fields: (t) => ({
      revokedSessionIds: t.idList({
        description: 'Ids of the sessions that were active.',
        resolve: ({ revokedSessionIds }) => revokedSessionIds,
      }),
    }),
  })

const AuthenticateSessionInput = builder.inputType('AuthenticateSessionInput', {
  description: 'Input of authenticateSession.',
  fields: (t) => ({
    sessionToken: t.string({ required: true, description: 'The session token.' }),
    clientId: t.id({ description: 'Required, and equal, when the session was started through OIDC.' }),
    sessionExpirationMinutes: t.int({
      description: 'Extends a refreshable session to this number of minutes from now; 0 to 129600.',
    }),
    rotateSessionToken: t.boolean({
      description:
        'Returns a new token. The old token stays valid for 10 s, and a retry with it returns the same new token.',
    }),
    metadata: t.field({ type: RequestMetadataInput, description: "Metadata of the user's request." }),
  }),
})

builder.mutationField('authenticateSession', (t) =>
  t.field({
    ...withScope('sessions:write', 'Authenticates a session token; refreshes and rotates it on request.'),
    ...toResultOptions(InvalidInput, InvalidCredential),
    type: AuthenticateSessionPayload,
    args: { input: t.arg({ type: AuthenticateSessionInput, required: true, description: 'The token.' }) },
    resolve: (_root, { input }, { ctx }) => authenticateSession(ctx, input),
  }),
)

const RevokeSessionInput = builder.inputType('RevokeSessionInput', {
  description: 'Input of revokeSession.',
  fields: (t) => ({ sessionId: t.id({ required: true, description: 'Id of the session.' }) }),
})

builder.mutationField('revokeSession', (t) =>
  t.field({
    ...withScope(
      'sessions:write',
      "Ends an active session with its grants and codes. The caller must have all scopes of the user's roles.",
    ),
    ...toResultOptions(InvalidInput, NotFound),
    type: RevokeSessionPayload,
    args: { input: t.arg({ type: RevokeSessionInput, required: true, description: 'The session.' }) },
    resolve: (_root, { input }, { ctx }) =>
      revokeSession(ctx, requireNodeId('session', input.sessionId, 'sessionId')),
  }),
)

const RevokeUserSessionsInput = builder.inputType('RevokeUserSessionsInput', {
  description: 'Input of revokeUserSessions.',
  fields: (t) => ({ userId: t.id({ required: true, description: 'Id of the user.' }) }),
})

builder.mutationField('revokeUserSessions', (t) =>
  t.field({
    ...withScope(
      'sessions:write',
      "Ends all active sessions of a user. The caller must have all scopes of the user's roles.",
    ),
    ...toResultOptions(InvalidInput, NotFound),
    type: RevokeUserSessionsPayload,
    args: { input: t.arg({ type: RevokeUserSessionsInput, required: true, description: 'The user.' }) },
    resolve: (_root, { input }, { ctx }) =>
      revokeUserSessions(ctx, requireNodeId('user', input.userId, 'userId')),
  }),
)
