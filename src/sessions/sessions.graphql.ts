import { ClientRef } from '../clients/clients.graphql.ts'
import type { Session } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { defineConnectionType, NESTED_PAGE_ARGS, nestedConnectionField } from '../graphql/connection.ts'
import { withPublicAccess, withScope, withScopeOrOwner } from '../graphql/field-access.ts'
import { ID_DESCRIPTION, Node, nullIfNotFound, registerNode, requireNodeId } from '../graphql/node.graphql.ts'
import { addNodeSelection, buildNestedQuery, toNestedPage } from '../graphql/node-selection.ts'
import { getShapeDescription } from '../schema/schema-descriptions.ts'
import { UserRef } from '../users/users.graphql.ts'
import type { SessionProof } from './proofs.ts'
import { SessionProofShape } from './sessions.fields.ts'
import { buildActiveCondition, countUserSessions, getSession } from './sessions.ts'

const SessionProofRef = builder.objectRef<SessionProof>('SessionProof').implement({
  ...withPublicAccess('A proof of the identity of a user.'),
  fields: (t) => ({
    method: t.exposeString('method', { description: getShapeDescription(SessionProofShape.shape.method) }),
    amr: t.exposeStringList('amr', { description: getShapeDescription(SessionProofShape.shape.amr) }),
    at: t.field({
      type: 'DateTime',
      description: getShapeDescription(SessionProofShape.shape.at),
      resolve: ({ at }) => new Date(at),
    }),
  }),
})

/** An active session. Its rows are read without the hashes of its tokens. */
export const SessionRef = builder.prismaObject('Session', {
  ...withScopeOrOwner('sessions:read', 'An active session of a user.', (session: Session) => session.userId),
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: ID_DESCRIPTION }),
    userId: t.exposeID('userId', {}),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user who is signed in.',
      resolve: ({ userId }, _args, { loaders }) => loaders.user.load(userId),
    }),
    clientId: t.exposeID('clientId', { nullable: true }),
    client: t.field({
      type: ClientRef,
      nullable: true,
      description: 'The client that the session was started through.',
      resolve: ({ clientId }, _args, { loaders }) => (clientId ? loaders.client.load(clientId) : null),
    }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', nullable: true }),
    lastSeenIp: t.exposeString('lastSeenIp', { nullable: true }),
    lastSeenLocation: t.exposeString('lastSeenLocation', { nullable: true }),
    userAgent: t.exposeString('userAgent', { nullable: true }),
    deviceId: t.exposeString('deviceId', { nullable: true }),
    proofs: t.field({
      type: [SessionProofRef],
      description: 'The last proof of each method by which the user authenticated.',
      select: { proofs: true },
      resolve: ({ proofs }) => proofs as unknown as SessionProof[],
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

registerNode('session', {
  ref: SessionRef,
  scope: 'sessions:read',
  load: (id, { loaders }) => loaders.session.load(id),
})

export const SessionConnection = defineConnectionType('Session', SessionRef)

builder.prismaObjectField('User', 'sessions', (t) =>
  t.field({
    ...withScopeOrOwner(
      'sessions:read',
      'Active sessions of the user, in order of their start.',
      ({ id }) => id,
    ),
    ...nestedConnectionField(SessionConnection),
    args: NESTED_PAGE_ARGS,
    select: (args, context, nested) => ({
      sessions: addNodeSelection(
        nested,
        'Session',
        buildNestedQuery(args, context, 'User.sessions', buildActiveCondition()),
      ),
    }),
    resolve: (user, args, context) =>
      toNestedPage(args, context, 'User.sessions', user.sessions, () =>
        countUserSessions(context.ctx, user.id),
      ),
  }),
)

builder.queryField('session', (t) =>
  t.field({
    ...withScope('sessions:read', 'One active session; null when there is none with this id.'),
    type: SessionRef,
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'Id of the session.' }) },
    resolve: (_root, { id }, { ctx }) =>
      nullIfNotFound(getSession(ctx, requireNodeId('session', id)) as Promise<Session>),
  }),
)
