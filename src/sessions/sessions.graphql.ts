import { ClientRef } from '../clients/clients.graphql.ts'
import type { Session } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { type ConnectionOf, NESTED_PAGE_ARGS, nestedConnectionField } from '../graphql/connection.ts'
import { withScopeOrOwner } from '../graphql/field-access.ts'
import { ID_DESCRIPTION, Node, registerNode } from '../graphql/node.graphql.ts'
import { addNodeSelection, buildNestedQuery, toNestedPage } from '../graphql/node-selection.ts'
import { buildObjectFields, toObjectType } from '../graphql/shape-fields.ts'
import { defineResource } from '../operations/resource.ts'
import { UserRef } from '../users/users.graphql.ts'
import type { AuthenticatedSession } from './authenticate-session.ts'
import type { SessionProof } from './proofs.ts'
import { SessionProofShape, SessionShape } from './sessions.fields.ts'
import { buildActiveCondition, countUserSessions } from './sessions.ts'

const { id: _, proofs: __, ...SESSION_FIELDS } = SessionShape.shape

/** An active session. Its rows are read without the hashes of its tokens. */
export const SessionRef = builder.prismaObject('Session', {
  ...withScopeOrOwner('sessions:read', 'An active session of a user.', (session: Session) => session.userId),
  interfaces: [Node],
  fields: (t) => ({
    ...buildObjectFields(t as never, SESSION_FIELDS, 'Session'),
    id: t.exposeID('id', { description: ID_DESCRIPTION }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user who is signed in.',
      resolve: ({ userId }, _args, { loaders }) => loaders.user.load(userId),
    }),
    client: t.field({
      type: ClientRef,
      nullable: true,
      description: 'The client that the session was started through.',
      resolve: ({ clientId }, _args, { loaders }) => (clientId ? loaders.client.load(clientId) : null),
    }),
    proofs: t.field({
      type: [toObjectType<SessionProof>(SessionProofShape)],
      description: 'The last proof of each method by which the user authenticated.',
      select: { proofs: true },
      resolve: ({ proofs }) => proofs as unknown as SessionProof[],
    }),
  }),
})

registerNode('session', {
  ref: SessionRef,
  scope: 'sessions:read',
  load: (id, { loaders }) => loaders.session.load(id),
})

export const SESSION = defineResource<AuthenticatedSession['session']>({
  member: 'session',
  ref: SessionRef as never,
  scope: 'sessions:read',
  shape: SessionShape,
})

builder.prismaObjectField('User', 'sessions', (t) =>
  t.field({
    ...withScopeOrOwner(
      'sessions:read',
      'Active sessions of the user, in order of their start.',
      ({ id }) => id,
    ),
    ...nestedConnectionField(SESSION.getConnection() as ConnectionOf<Session>),
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
