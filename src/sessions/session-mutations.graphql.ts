import { InvalidCredential, InvalidInput, NotFound } from '../errors.ts'
import type { Session } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { requireId } from '../graphql/node.graphql.ts'
import { resultOf } from '../graphql/result.ts'
import { open, scoped } from '../graphql/scoped.ts'
import { UserRef } from '../users/users.graphql.ts'
import { type AuthenticatedSession, authenticateSession } from './authenticate-session.ts'
import { SessionRef } from './sessions.graphql.ts'
import { revokeSession, revokeUserSessions } from './sessions.ts'

export const RequestMetadataInput = builder.inputType('RequestMetadataInput', {
  description: "What the caller knows of the person's request; used to detect fraud.",
  fields: (t) => ({
    deviceToken: t.string({ description: 'Opaque token of the device.' }),
    userAgent: t.string({ description: 'User-Agent of the browser or application.' }),
    ipAddress: t.string({ description: 'IPv4 or IPv6 address of the person.' }),
  }),
})

/** What authenticateSession and authenticatePasscode answer. */
export const AuthenticateSessionPayload = builder
  .objectRef<Omit<AuthenticatedSession, 'session'> & { session: AuthenticatedSession['session'] | null }>(
    'AuthenticateSessionPayload',
  )
  .implement({
    ...open('Who was authenticated, and the session.'),
    fields: (t) => ({
      session: t.field({
        type: SessionRef,
        nullable: true,
        description:
          'The session; null when none was asked for, and, with an error, for callers without sessions:read.',
        resolve: ({ session }) => session as Session | null,
      }),
      sessionToken: t.exposeString('sessionToken', {
        nullable: true,
        description: 'The token of a new session, or the new one of a rotated session; else null.',
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
    ...open('The session has ended.'),
    fields: (t) => ({
      revokedSessionId: t.exposeID('revokedSessionId', { description: 'Id of the session.' }),
    }),
  })

const RevokeUserSessionsPayload = builder
  .objectRef<{ revokedSessionIds: string[] }>('RevokeUserSessionsPayload')
  .implement({
    ...open('The sessions of the user have ended.'),
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
      description: 'Moves the end of a refreshable session to so many minutes from now; 0 to 129600.',
    }),
    rotateSessionToken: t.boolean({
      description:
        'Answers a new token; the old one works 10 s longer, and a retry with it answers the same.',
    }),
    metadata: t.field({ type: RequestMetadataInput, description: "The person's request." }),
  }),
})

builder.mutationField('authenticateSession', (t) =>
  t.field({
    ...scoped('sessions:write', 'Authenticates a session token; refreshes and rotates it when asked to.'),
    ...resultOf(InvalidInput, InvalidCredential),
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
    ...scoped('sessions:write', 'Ends an active session with what hangs on it.'),
    ...resultOf(InvalidInput, NotFound),
    type: RevokeSessionPayload,
    args: { input: t.arg({ type: RevokeSessionInput, required: true, description: 'Which session.' }) },
    resolve: (_root, { input }, { ctx }) =>
      revokeSession(ctx, requireId('session', input.sessionId, 'sessionId')),
  }),
)

const RevokeUserSessionsInput = builder.inputType('RevokeUserSessionsInput', {
  description: 'Input of revokeUserSessions.',
  fields: (t) => ({ userId: t.id({ required: true, description: 'Id of the user.' }) }),
})

builder.mutationField('revokeUserSessions', (t) =>
  t.field({
    ...scoped('sessions:write', 'Ends all active sessions of a user.'),
    ...resultOf(InvalidInput, NotFound),
    type: RevokeUserSessionsPayload,
    args: { input: t.arg({ type: RevokeUserSessionsInput, required: true, description: 'Whose sessions.' }) },
    resolve: (_root, { input }, { ctx }) =>
      revokeUserSessions(ctx, requireId('user', input.userId, 'userId')),
  }),
)
