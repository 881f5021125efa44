import { builder } from './builder.ts'
import type { GraphQLContext } from './context.ts'
import { ClientRef, SessionRef, UserRef } from './refs.ts'
import { caller, open } from './scoped.ts'

const actorOf = ({ ctx: { actor } }: GraphQLContext) => actor

const Viewer = builder.objectRef<object>('Viewer').implement({
  ...open('Who calls: the person or the client behind the access token.'),
  fields: (t) => ({
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The person; null when a client calls for itself.',
      resolve: (_viewer, _args, context) => {
        const actor = actorOf(context)
        return actor.kind === 'user' ? context.loaders.user.load(actor.userId) : null
      },
    }),
    client: t.field({
      type: ClientRef,
      nullable: true,
      description: "The client that the token was issued to; null for another tenant's.",
      resolve: (_viewer, _args, context) => {
        const actor = actorOf(context)
        if (actor.kind !== 'user' && actor.kind !== 'client') return null
        if (actor.tenant !== context.ctx.tenant || !actor.clientId) return null
        return context.loaders.client.load(actor.clientId)
      },
    }),
    session: t.field({
      type: SessionRef,
      nullable: true,
      description: 'The session that the token depends on, if it does.',
      resolve: (_viewer, _args, context) => {
        const actor = actorOf(context)
        return actor.kind === 'user' && actor.sessionId ? context.loaders.session.load(actor.sessionId) : null
      },
    }),
    scopes: t.stringList({
      description: 'Management scopes of the token, in order of name.',
      resolve: (_viewer, _args, { ctx }) => [...ctx.scopes].sort(),
    }),
    tokenExpiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the access token expires.',
      resolve: (_viewer, _args, { token }) => token?.expiresAt ?? null,
    }),
  }),
})

builder.queryField('viewer', (t) =>
  t.field({
    ...caller('Who I am, and what I may.'),
    type: Viewer,
    nullable: true,
    resolve: () => ({}),
  }),
)
