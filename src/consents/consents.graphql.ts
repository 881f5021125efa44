import { resolveClientLogoUrl } from '../clients/client-logo.ts'
import { InvalidInput, NotFound } from '../core/errors.ts'
import type { Consent } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { defineConnectionType, NESTED_PAGE_ARGS, nestedConnectionField } from '../graphql/connection.ts'
import type { GraphQLContext } from '../graphql/context.ts'
import { withPublicAccess, withScope, withScopeOrOwner } from '../graphql/field-access.ts'
import { requireClientId, requireNodeId } from '../graphql/node.graphql.ts'
import { addNodeSelection } from '../graphql/node-selection.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { DEFAULT_PAGE_SIZE, type PageArgs, parsePaging, toPage } from '../schema/page.ts'
import {
  type ClaimConsentItem,
  type ScopeConsentItem,
  toClaimConsentItems,
  toScopeConsentItems,
} from './consent-items.ts'
import { ConsentShape } from './consents.fields.ts'
import { countUserConsents, revokeUserConsent } from './consents.ts'

const { shape } = ConsentShape
/** The description of the REST member. */
const describeField = (field: keyof typeof shape) => ({ description: shape[field].meta()?.description })
const scopeFields = shape.scopes.element.shape
const claimFields = shape.claims.element.shape

const ConsentedScope = builder.objectRef<ScopeConsentItem>('ConsentedScope').implement({
  ...withPublicAccess('A scope that the user consented to.'),
  fields: (t) => ({
    scope: t.exposeString('scope', { description: scopeFields.scope.meta()?.description }),
    words: t.exposeString('words', { description: scopeFields.words.meta()?.description }),
  }),
})

const ConsentedClaim = builder.objectRef<ClaimConsentItem>('ConsentedClaim').implement({
  ...withPublicAccess('An individually requested claim that the user consented to.'),
  fields: (t) => ({
    claim: t.exposeString('claim', { description: claimFields.claim.meta()?.description }),
    words: t.exposeString('words', { description: claimFields.words.meta()?.description }),
  }),
})

/** Rows are ordered by client id, which identifies a consent in a user's list. */
const ConsentRef = builder.prismaObject('Consent', {
  ...withScopeOrOwner(
    'users:read',
    ConsentShape.meta()?.description ?? '',
    (consent: Consent) => consent.userId,
  ),
  fields: (t) => ({
    clientId: t.exposeID('clientId', describeField('clientId')),
    clientName: t.string({
      ...describeField('clientName'),
      select: { client: { select: { name: true } } },
      resolve: ({ client }) => client.name,
    }),
    clientLogoUrl: t.string({
      nullable: true,
      ...describeField('clientLogoUrl'),
      select: { tenantId: true, client: { select: { id: true, logoUrl: true } } },
      resolve: ({ tenantId, client }) => resolveClientLogoUrl(tenantId, client),
    }),
    scopes: t.field({
      type: [ConsentedScope],
      ...describeField('scopes'),
      select: { scopes: true },
      resolve: ({ scopes }) => toScopeConsentItems(scopes),
    }),
    claims: t.field({
      type: [ConsentedClaim],
      ...describeField('claims'),
      select: { claims: true },
      resolve: ({ claims }) => toClaimConsentItems(claims),
    }),
    resources: t.exposeStringList('resources', describeField('resources')),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', ...describeField('updatedAt') }),
    createdAt: t.expose('createdAt', { type: 'DateTime', ...describeField('createdAt') }),
  }),
})

const ConsentConnection = defineConnectionType('Consent', ConsentRef)

const getListName = ({ ctx }: GraphQLContext): string => `${ctx.tenant}:User.consents`
const parseConsentPaging = (args: PageArgs, context: GraphQLContext) =>
  parsePaging(
    context.ctx,
    { first: args.first ?? DEFAULT_PAGE_SIZE, after: args.after },
    getListName(context),
  )

function buildConsentQuery(args: PageArgs, context: GraphQLContext) {
  const paging = parseConsentPaging(args, context)
  const seek = paging.mode === 'cursor' ? paging.seek : null
  return {
    take: paging.pageSize + 1,
    orderBy: { clientId: 'asc' as const },
    where: seek ? { clientId: { gt: seek.id } } : {},
  }
}

builder.prismaObjectField('User', 'consents', (t) =>
  t.field({
    ...withScopeOrOwner('users:read', 'Consents of the user, by client.', ({ id }) => id),
    ...nestedConnectionField(ConsentConnection),
    args: NESTED_PAGE_ARGS,
    select: (args, context, nested) => ({
      consents: addNodeSelection(nested, 'Consent', buildConsentQuery(args, context), 'clientId'),
    }),
    resolve: (user, args, context) =>
      toPage(parseConsentPaging(args, context), user.consents, {
        name: getListName(context),
        toKey: ({ clientId }) => ({ value: null, id: clientId }),
        countAll: () => countUserConsents(context.ctx, user.id),
      }),
  }),
)

const RevokeUserConsentPayload = builder
  .objectRef<{ revokedClientId: string }>('RevokeUserConsentPayload')
  .implement({
    ...withPublicAccess('The consent is revoked.'),
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
    ...withScope(
      'users:write',
      "Revokes a user's consent for a client, with the tokens and sessions of the client. The caller must have all scopes of the user's roles.",
    ),
    ...toResultOptions(InvalidInput, NotFound),
    type: RevokeUserConsentPayload,
    args: {
      input: t.arg({ type: RevokeUserConsentInput, required: true, description: 'The user and the client.' }),
    },
    resolve: (_root, { input: { userId, clientId } }, { ctx }) =>
      revokeUserConsent(ctx, requireNodeId('user', userId, 'userId'), requireClientId(clientId, 'clientId')),
  }),
)
