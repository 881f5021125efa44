import { isClientId } from '../access/client-ids.ts'
import { resolveClientLogoUrl } from '../clients/client-logo.ts'
import { readIdPrefix } from '../core/crypto.ts'
import { ACCOUNT_SCOPE } from '../core/scopes.ts'
import type { Db } from '../database/handle.ts'
import type { Consent } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { defineConnectionType, NESTED_PAGE_ARGS, nestedConnectionField } from '../graphql/connection.ts'
import { type GraphQLContext, isOwner } from '../graphql/context.ts'
import { withScopeOrOwner } from '../graphql/field-access.ts'
import { composeId, Node, readComposedId, registerNode } from '../graphql/node.graphql.ts'
import { addNodeSelection } from '../graphql/node-selection.ts'
import { buildObjectFields, toObjectType } from '../graphql/shape-fields.ts'
import { DEFAULT_PAGE_SIZE, type PageArgs, parsePaging, toPage } from '../schema/page.ts'
import { getShapeDescription } from '../schema/schema-descriptions.ts'
import {
  type ClaimConsentItem,
  type ScopeConsentItem,
  toClaimConsentItems,
  toScopeConsentItems,
} from './consent-items.ts'
import { ConsentShape } from './consents.fields.ts'
import { countUserConsents } from './consents.ts'

const { clientName, clientLogoUrl, scopes, claims, ...FIELDS } = ConsentShape.shape

type ConsentKey = { userId: string; clientId: string }

const toConsentId = ({ userId, clientId }: ConsentKey): string => composeId('consent', userId, clientId)
const readConsentId = (id: string): ConsentKey => {
  const [userId = '', clientId = ''] = readComposedId(id, 2)
  return { userId, clientId }
}

/** The consents with these ids. Text that cannot be an id is not sent: PostgreSQL rejects U+0000. */
const readConsents = async ({ prisma, tenant }: Db, ids: string[]) => {
  const keys = ids.map(readConsentId)
  const valid = keys.filter(({ userId, clientId }) => readIdPrefix(userId) === 'user' && isClientId(clientId))
  const where = { tenantId: tenant, OR: valid }
  return (await prisma.consent.findMany({ where })).map((row) => ({ ...row, id: toConsentId(row) }))
}

/** Rows are ordered by client id, which identifies a consent in a user's list. */
const ConsentRef = builder.prismaObject('Consent', {
  ...withScopeOrOwner('users:read', getShapeDescription(ConsentShape), (consent: Consent) => consent.userId),
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({
      description: 'Globally unique id of GraphQL.',
      select: { userId: true, clientId: true },
      resolve: toConsentId,
    }),
    ...buildObjectFields(t as never, FIELDS),
    clientName: t.string({
      description: getShapeDescription(clientName),
      select: { client: { select: { name: true } } },
      resolve: ({ client }) => client.name,
    }),
    clientLogoUrl: t.field({
      type: 'URL',
      nullable: true,
      description: getShapeDescription(clientLogoUrl),
      select: { tenantId: true, client: { select: { id: true, logoUrl: true } } },
      resolve: ({ tenantId, client }) => resolveClientLogoUrl(tenantId, client),
    }),
    scopes: t.field({
      type: [toObjectType<ScopeConsentItem>(scopes.element)],
      description: getShapeDescription(scopes),
      select: { scopes: true },
      resolve: ({ scopes }) => toScopeConsentItems(scopes),
    }),
    claims: t.field({
      type: [toObjectType<ClaimConsentItem>(claims.element)],
      description: getShapeDescription(claims),
      select: { claims: true },
      resolve: ({ claims }) => toClaimConsentItems(claims),
    }),
  }),
})

registerNode('consent', {
  ref: ConsentRef,
  scope: 'users:read',
  isOwn: (id, context) => isOwner(context, readConsentId(id).userId, ACCOUNT_SCOPE),
  load: (id, { loaders }) => loaders.over(readConsents).load(id),
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
