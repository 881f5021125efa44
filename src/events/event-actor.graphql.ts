import { ACCOUNT_SCOPE } from '../core/scopes.ts'
import { builder } from '../graphql/builder.ts'
import { type GraphQLContext, isOwner } from '../graphql/context.ts'
import { withPublicAccess } from '../graphql/field-access.ts'
import { ClientRef, UserRef } from '../graphql/object-refs.ts'
import type { LogEvent } from './log.ts'

/** The IP address is visible with the scope events:read, and to the actor. */
const canSeeIp = (event: LogEvent, context: GraphQLContext): boolean =>
  context.ctx.scopes.has('events:read') || isOwner(context, event.actorUserId, ACCOUNT_SCOPE)

export const Actor = builder.objectRef<LogEvent>('Actor').implement({
  ...withPublicAccess(
    'The user, client or API key that caused an event, with the IP address of the request; only `ip` is set for an unauthenticated request.',
  ),
  fields: (t) => ({
    userId: t.id({ nullable: true, description: 'Id of the user.', resolve: (event) => event.actorUserId }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user; null once deleted.',
      resolve: (event, _args, { loaders }) =>
        event.actorUserId ? loaders.user.load(event.actorUserId) : null,
    }),
    clientId: t.id({
      nullable: true,
      description: 'Id of the client.',
      resolve: (event) => event.actorClientId,
    }),
    client: t.field({
      type: ClientRef,
      nullable: true,
      description: 'The client; null once deleted.',
      resolve: (event, _args, { loaders }) =>
        event.actorClientId && !event.actorTenantId ? loaders.client.load(event.actorClientId) : null,
    }),
    apiKeyId: t.id({
      nullable: true,
      description: 'Id of the API key, of the tenant or of the user.',
      resolve: (event) => event.actorApiKeyId,
    }),
    tenantId: t.id({
      nullable: true,
      description: 'Tenant of the actor if it is an operator of another tenant; null otherwise.',
      resolve: (event) => event.actorTenantId,
    }),
    ip: t.string({
      nullable: true,
      description: 'IP address of the request. Requires the scope events:read, except for your own events.',
      resolve: (event, _args, context) => (canSeeIp(event, context) ? event.ip : null),
    }),
  }),
})

/** The event itself when it has an actor; null for the platform. */
export function toActor(event: LogEvent): LogEvent | null {
  return event.actorUserId || event.actorClientId || event.actorApiKeyId || event.ip ? event : null
}
