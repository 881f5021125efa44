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
import { ConsentShape } from './consents.fields.ts'
import { countUserConsents, revokeUserConsent } from './consents.ts'

const { shape } = ConsentShape
/** As REST tells it. */
const told = (field: keyof typeof shape) => ({ description: shape[field].meta()?.description })
const scopeWords = shape.scopes.element.shape
const claimWords = shape.claims.element.shape

const ConsentedScope = builder.objectRef<Ask>('ConsentedScope').implement({
  ...open('Something that a person lets a client do.'),
  fields: (t) => ({
    scope: t.exposeString('scope', { description: scopeWords.scope.meta()?.description }),
    words: t.exposeString('words', { description: scopeWords.words.meta()?.description }),
  }),
})

const ConsentedClaim = builder.objectRef<ClaimAsk>('ConsentedClaim').implement({
  ...open('Something that a person lets a client know, asked for by itself.'),
  fields: (t) => ({
    claim: t.exposeString('claim', { description: claimWords.claim.meta()?.description }),
    words: t.exposeString('words', { description: claimWords.words.meta()?.description }),
  }),
})

/** Rows are ordered by the client, which is what names them within a person's list. */
const ConsentRef = builder.prismaObject('Consent', {
  ...scopedOrOwn('users:read', ConsentShape.meta()?.description ?? '', (consent: Consent) => consent.userId),
  fields: (t) => ({
    clientId: t.exposeID('clientId', told('clientId')),
    clientName: t.string({
      ...told('clientName'),
      select: { client: { select: { name: true } } },
      resolve: ({ client }) => client.name,
    }),
    clientLogoUrl: t.string({
      nullable: true,
      ...told('clientLogoUrl'),
      select: { client: { select: { logoUrl: true } } },
      resolve: ({ client }) => client.logoUrl,
    }),
    scopes: t.field({
      type: [ConsentedScope],
      ...told('scopes'),
      select: { scopes: true },
      resolve: ({ scopes }) => asksOf(scopes),
    }),
    claims: t.field({
      type: [ConsentedClaim],
      ...told('claims'),
      select: { claims: true },
      resolve: ({ claims }) => asksOfClaims(claims),
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', ...told('updatedAt') }),
    createdAt: t.expose('createdAt', { type: 'DateTime', ...told('createdAt') }),
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
