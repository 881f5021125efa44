import { ACCOUNT_SCOPE } from '../core/scopes.ts'
import type { User } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { isOwner, type OwnScope } from '../graphql/context.ts'
import { withScope, withScopeOrOwner } from '../graphql/field-access.ts'
import { ID_DESCRIPTION, Node, nullIfNotFound, registerNode, requireNodeId } from '../graphql/node.graphql.ts'
import type { OwnFieldExtensions } from '../graphql/own-fields.ts'
import { buildObjectFields, toObjectType } from '../graphql/shape-fields.ts'
import { findDescription, getShapeDescription } from '../schema/schema-descriptions.ts'
import { CLAIM_DEFINITIONS } from './claims.ts'
import { toAddress } from './user-body.ts'
import { type Address, UserShape } from './users.fields.ts'
import { getUser, getUserByEmail, getUserByPhoneNumber } from './users.ts'

/** Fields of the own user by the scope of their claim: tokens read the same here as from userinfo. */
const SCOPE_BY_FIELD: ReadonlyMap<string, OwnScope> = new Map(
  Object.entries(CLAIM_DEFINITIONS).map(([claim, { scope }]) => [toFieldName(claim), scope]),
)

/** `phone_number_verified` is the field `phoneNumberVerified`. */
function toFieldName(claim: string): string {
  return claim.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

const toOwnFieldRule = (field: string) =>
  ({
    extensions: { ownField: { scope: 'users:read', ownScope: SCOPE_BY_FIELD.get(field) ?? ACCOUNT_SCOPE } },
  }) satisfies { extensions: OwnFieldExtensions }

/** A user. Other files add further fields, such as nested lists. */
export const UserRef = builder.prismaObject('User', {
  ...withScopeOrOwner(
    'users:read',
    'A user who can sign in to the tenant. Of the own user, a field requires the scope of its claim (OIDC Core, section 5.4), or account.',
    (user: User) => user.id,
    'openid',
  ),
  interfaces: [Node],
  fields: (t) => {
    const { id, address, appMetadata, ...fields } = UserShape.shape
    return {
      id: t.exposeID('id', { description: ID_DESCRIPTION }),
      ...buildObjectFields(t as never, fields, 'User', toOwnFieldRule),
      address: t.field({
        ...toOwnFieldRule('address'),
        type: toObjectType<Address>(address),
        nullable: true,
        description: getShapeDescription(address),
        resolve: toAddress,
      }),
      appMetadata: t.expose('appMetadata', {
        ...withScope('users:read_app_metadata', findDescription('User', 'appMetadata') ?? ''),
        type: 'JSONObject',
        nullable: true,
      }),
      roles: t.exposeStringList('roles', {
        ...toOwnFieldRule('roles'),
        description: 'Names of management roles, which determine the scopes that the user can get.',
      }),
      externalId: t.exposeString('externalId', { ...toOwnFieldRule('externalId'), nullable: true }),
    }
  },
})

registerNode('user', {
  ref: UserRef,
  scope: 'users:read',
  isOwn: (id, context) => isOwner(context, id, 'openid'),
  load: (id, { loaders }) => loaders.user.load(id),
})

builder.queryField('user', (t) =>
  t.prismaField({
    ...withScope('users:read', 'A user; null when there is none with this id.'),
    type: 'User',
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'Id of the user.' }) },
    resolve: (query, _root, { id }, { ctx }) =>
      nullIfNotFound(getUser(ctx, requireNodeId('user', id), query)),
  }),
)

builder.queryField('userByEmail', (t) =>
  t.prismaField({
    ...withScope('users:read', 'The user with an e-mail address, in any spelling; null when there is none.'),
    type: 'User',
    nullable: true,
    args: { email: t.arg({ type: 'EmailAddress', required: true, description: 'E-mail address.' }) },
    resolve: (query, _root, { email }, { ctx }) => nullIfNotFound(getUserByEmail(ctx, email, query)),
  }),
)

builder.queryField('userByPhoneNumber', (t) =>
  t.prismaField({
    ...withScope('users:read', 'The user with a phone number, in any notation; null when there is none.'),
    type: 'User',
    nullable: true,
    args: {
      phoneNumber: t.arg({
        type: 'PhoneNumber',
        required: true,
        description: 'Phone number, preferably in E.164 form.',
      }),
    },
    resolve: (query, _root, { phoneNumber }, { ctx }) =>
      nullIfNotFound(getUserByPhoneNumber(ctx, phoneNumber, query)),
  }),
)
