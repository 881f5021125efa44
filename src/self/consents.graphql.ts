import { InvalidInput, NotFound } from '../errors.ts'
import type { Consent } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { connectionType, listOf, NESTED_PAGE_ARGS, withNodes } from '../graphql/connection.ts'
import type { GraphQLContext } from '../graphql/context.ts'
import { requireId } from '../graphql/node.graphql.ts'
import { resultOf } from '../graphql/result.ts'
import { open, ownAccount, scopedOrOwn } from '../graphql/scoped.ts'
import { type Ask, asksOf } from '../oidc/scope-words.ts'
import { DEFAULT_PAGE_SIZE, type PageArgs, parsePaging, toPage } from '../page.ts'
import { countUserConsents, revokeViewerConsent } from './consents.ts'

const ConsentedScope = builder.objectRef<Ask>('ConsentedScope').implement({
  ...open('Something that a person lets a client do.'),
  fields: (t) => ({
    scope: t.exposeString('scope', { description: 'Name of the scope.' }),
    words: t.exposeString('words', { description: 'What it means, as the person was asked.' }),
  }),
})

/** Rows are ordered by the client, which is what names them within a person's list. */
const ConsentRef = builder.prismaObject('Consent', {
  ...scopedOrOwn(
    'users:read',
    'What a person agreed to let a client do.',
    (consent: Consent) => consent.userId,
  ),
  fields: (t) => ({
    clientId: t.exposeID('clientId', { description: 'Id of the client.' }),
    clientName: t.string({
      description: 'Name of the client.',
      select: { client: { select: { name: true } } },
      resolve: ({ client }) => client.name,
    }),
    clientLogoUrl: t.string({
      nullable: true,
      description: 'Logo of the client.',
      select: { client: { select: { logoUrl: true } } },
      resolve: ({ client }) => client.logoUrl,
    }),
    scopes: t.field({
      type: [ConsentedScope],
      description: 'What the person agreed to.',
      select: { scopes: true },
      resolve: ({ scopes }) => asksOf(scopes),
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the person last agreed.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the person first agreed.' }),
  }),
})

const ConsentConnection = connectionType('Consent', ConsentRef)

const listName = ({ ctx }: GraphQLContext): string => `${ctx.tenant}:User.consents`
const paging = (args: PageArgs, context: GraphQLContext) =>
  parsePaging({ first: args.first ?? DEFAULT_PAGE_SIZE, after: args.after }, listName(context))

function consentQuery(args: PageArgs, context: GraphQLContext) {
  const asked = paging(args, context)
  const seek = asked.mode === 'cursor' ? asked.seek : null
  return {
    take: asked.pageSize + 1,
    orderBy: { clientId: 'asc' as const },
    where: seek ? { clientId: { gt: seek.id } } : {},
  }
}

builder.prismaObjectField('User', 'consents', (t) =>
  t.field({
    ...scopedOrOwn('users:read', 'Clients that the user gave consent to, by client.', ({ id }) => id),
    ...listOf(ConsentConnection),
    args: NESTED_PAGE_ARGS,
    select: (args, context, nested) => ({
      consents: withNodes(nested, 'Consent', consentQuery(args, context)),
    }),
    resolve: (user, args, context) =>
      toPage(paging(args, context), user.consents, {
        name: listName(context),
        keyOf: ({ clientId }) => ({ value: null, id: clientId }),
        countAll: () => countUserConsents(context.ctx, user.id),
      }),
  }),
)

const RevokeViewerConsentPayload = builder
  .objectRef<{ revokedClientId: string }>('RevokeViewerConsentPayload')
  .implement({
    ...open('The client can do nothing for the person any more.'),
    fields: (t) => ({ revokedClientId: t.exposeID('revokedClientId', { description: 'Id of the client.' }) }),
  })

const RevokeViewerConsentInput = builder.inputType('RevokeViewerConsentInput', {
  description: 'Input of revokeViewerConsent.',
  fields: (t) => ({ clientId: t.id({ required: true, description: 'Id of the client.' }) }),
})

builder.mutationField('revokeViewerConsent', (t) =>
  t.field({
    ...ownAccount(
      'Takes back what I agreed to for a client, with the tokens and sessions that it got by it.',
    ),
    ...resultOf(InvalidInput, NotFound),
    type: RevokeViewerConsentPayload,
    args: { input: t.arg({ type: RevokeViewerConsentInput, required: true, description: 'The client.' }) },
    resolve: (_root, { input: { clientId } }, { ctx }) =>
      revokeViewerConsent(ctx, requireId('client', clientId, 'clientId')),
  }),
)
