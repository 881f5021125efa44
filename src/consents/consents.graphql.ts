import { InvalidInput, NotFound } from '../errors.ts'
import type { Consent } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { connectionType, listOf, NESTED_PAGE_ARGS, withNodes } from '../graphql/connection.ts'
import type { GraphQLContext } from '../graphql/context.ts'
import { requireClientId, requireId } from '../graphql/node.graphql.ts'
import { resultOf } from '../graphql/result.ts'
import { open, scoped, scopedOrOwn } from '../graphql/scoped.ts'
import { type Ask, asksOf, asksOfClaims, type ClaimAsk } from '../oidc/signin/scope-words.ts'
import { DEFAULT_PAGE_SIZE, type PageArgs, parsePaging, toPage } from '../page.ts'
import { countUserConsents, revokeUserConsent } from './consents.ts'

const ConsentedScope = builder.objectRef<Ask>('ConsentedScope').implement({
  ...open('Something that a person lets a client do.'),
  fields: (t) => ({
    scope: t.exposeString('scope', { description: 'Name of the scope.' }),
    words: t.exposeString('words', { description: 'What it means, as the person was asked.' }),
  }),
})

const ConsentedClaim = builder.objectRef<ClaimAsk>('ConsentedClaim').implement({
  ...open('Something that a person lets a client know, asked for by itself.'),
  fields: (t) => ({
    claim: t.exposeString('claim', { description: 'Name of the claim.' }),
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
    claims: t.field({
      type: [ConsentedClaim],
      description: 'Claims that the person agreed to one by one, beside those of the scopes.',
      select: { claims: true },
      resolve: ({ claims }) => asksOfClaims(claims),
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
      consents: withNodes(nested, 'Consent', consentQuery(args, context), 'clientId'),
    }),
    resolve: (user, args, context) =>
      toPage(paging(args, context), user.consents, {
        name: listName(context),
        keyOf: ({ clientId }) => ({ value: null, id: clientId }),
        countAll: () => countUserConsents(context.ctx, user.id),
      }),
  }),
)

const RevokeUserConsentPayload = builder
  .objectRef<{ revokedClientId: string }>('RevokeUserConsentPayload')
  .implement({
    ...open('The client can do nothing for the user any more.'),
    fields: (t) => ({ revokedClientId: t.exposeID('revokedClientId', { description: 'Id of the client.' }) }),
  })

const RevokeUserConsentInput = builder.inputType('RevokeUserConsentInput', {
  description: 'Input of revokeUserConsent.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user.' }),
    clientId: t.id({ required: true, description: 'Id of the client.' }),
  }),
})

builder.mutationField('revokeUserConsent', (t) =>
  t.field({
    ...scoped(
      'users:write',
      'Takes back what a user agreed to for a client, with the tokens and sessions that it got by it. For users whose roles permit no more than the caller may.',
    ),
    ...resultOf(InvalidInput, NotFound),
    type: RevokeUserConsentPayload,
    args: {
      input: t.arg({ type: RevokeUserConsentInput, required: true, description: 'The user and the client.' }),
    },
    resolve: (_root, { input: { userId, clientId } }, { ctx }) =>
      revokeUserConsent(ctx, requireId('user', userId, 'userId'), requireClientId(clientId, 'clientId')),
  }),
)
