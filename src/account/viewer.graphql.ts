import { resolveClientLogoUrl } from '../clients/client-logo.ts'
import { getAdministeredId } from '../context/administered-organization.ts'
import { readHead } from '../events/log.ts'
import type { Client } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { findOwnUserId, type GraphQLContext } from '../graphql/context.ts'
import { registerEarlyField } from '../graphql/early-fields.ts'
import {
  orAdministrator,
  withAccountScope,
  withPublicAccess,
  withScopeOrOwner,
  withToken,
} from '../graphql/field-access.ts'
import { OrganizationRef, SessionRef, UserRef } from '../graphql/object-refs.ts'
import { toObjectType } from '../graphql/shape-fields.ts'
import { encodePosition } from '../model/event-position.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { AccountDeletionShape } from './account.fields.ts'
import { type AccountDeletion, findViewerDeletion } from './account-deletion.ts'

const getActor = ({ ctx: { actor } }: GraphQLContext) => actor

/** What a user may know about the client of the access token: as much as the consent page shows. */
const PublicClient = builder
  .objectRef<Pick<Client, 'id' | 'name' | 'logoUrl' | 'themeColor'>>('PublicClient')
  .implement({
    ...withPublicAccess('A client as its users know it, without its configuration.'),
    fields: (t) => ({
      id: t.exposeID('id', { description: 'Id of the client: its OAuth client_id.' }),
      name: t.exposeString('name', { description: findDescription('Client', 'name') }),
      logoUrl: t.field({
        type: 'URL',
        nullable: true,
        description: findDescription('Client', 'logoUrl'),
        resolve: (client, _args, { ctx }) => resolveClientLogoUrl(ctx.tenant, client),
      }),
      themeColor: t.expose('themeColor', {
        type: 'Color',
        nullable: true,
        description: findDescription('Client', 'themeColor'),
      }),
    }),
  })

registerEarlyField('eventPosition', async (context) => {
  context.eventPosition = encodePosition((await readHead(context.ctx.db)).head)
})

/** The calling user, if it is a user of the tenant. */
type ViewerRow = { userId: string | null }

export const Viewer = builder.objectRef<ViewerRow>('Viewer').implement({
  ...withPublicAccess('The caller: the user or client of the access token.'),
  fields: (t) => ({
    user: t.field({
      type: UserRef,
      nullable: true,
      description:
        'The calling user, as far as the scopes of the token permit; null when a client calls on its own behalf.',
      resolve: (_viewer, _args, context) => {
        const actor = getActor(context)
        return actor.kind === 'user' ? context.loaders.user.load(actor.userId) : null
      },
    }),
    client: t.field({
      type: PublicClient,
      nullable: true,
      description: "The client that the token was issued to; null for another tenant's client.",
      resolve: (_viewer, _args, context) => {
        const actor = getActor(context)
        if (actor.kind !== 'user' && actor.kind !== 'client') return null
        if (actor.tenant !== context.ctx.tenant || !actor.clientId) return null
        return context.loaders.client.load(actor.clientId)
      },
    }),
    session: t.field({
      type: SessionRef,
      nullable: true,
      description: 'The session that the token depends on, if any.',
      resolve: (_viewer, _args, context) => {
        const actor = getActor(context)
        return actor.kind === 'user' && actor.sessionId ? context.loaders.session.load(actor.sessionId) : null
      },
    }),
    scopes: t.field({
      type: ['Scope'],
      description: 'Management scopes of the token, in alphabetical order.',
      resolve: (_viewer, _args, { ctx }) => [...ctx.scopes].sort(),
    }),
    administeredOrganization: t.field({
      type: OrganizationRef,
      nullable: true,
      description:
        'The organization of the token, which the scope organization permits the calling user to manage as its administrator; null for other tokens.',
      resolve: (_viewer, _args, { ctx, loaders }) => {
        const id = getAdministeredId(ctx)
        return id === null ? null : loaders.organization.load(id)
      },
    }),
    deletion: t.field({
      ...withAccountScope('The request of the calling user to be deleted, if any.'),
      type: toObjectType<AccountDeletion>(AccountDeletionShape),
      nullable: true,
      resolve: (_viewer, _args, { ctx }) => findViewerDeletion(ctx),
    }),
    eventPosition: t.string({
      ...orAdministrator(
        withScopeOrOwner(
          ['events:read', 'sessions:read', 'users:read'],
          'The position of the event log before this query: subscribed with it as `after`, each later change is in the lists of the query, in the stream, or in both.',
          ({ userId }: ViewerRow) => userId,
        ),
        (_viewer, ctx) => getAdministeredId(ctx),
      ),
      nullable: true,
      resolve: (_viewer, _args, { eventPosition }) => eventPosition,
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
    ...withToken('The caller and its permissions.'),
    type: Viewer,
    nullable: true,
    resolve: (_root, _args, context) => ({ userId: findOwnUserId(context) }),
  }),
)
