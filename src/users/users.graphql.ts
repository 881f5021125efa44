import { ACCOUNT_SCOPE, type Role } from '../core/scopes.ts'
import type { User } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { isOwner, type OwnScope } from '../graphql/context.ts'
import { withPublicAccess, withScope, withScopeOrOwner } from '../graphql/field-access.ts'
import { ID_DESCRIPTION, Node, nullIfNotFound, registerNode, requireNodeId } from '../graphql/node.graphql.ts'
import type { OwnFieldExtensions } from '../graphql/own-fields.ts'
import { RoleEnum } from '../graphql/roles.graphql.ts'
import { CLAIM_DEFINITIONS } from './claims.ts'
import { toAddress } from './user-body.ts'
import {
  ADDRESS_FIELDS,
  ADDRESS_MEMBERS,
  type Address,
  USER_FIELD_DEFINITIONS,
  USER_FIELDS,
} from './users.fields.ts'
import { getUser, getUserByEmail, getUserByPhoneNumber } from './users.ts'

const AddressRef = builder.objectRef<Address>('Address').implement({
  ...withPublicAccess('A postal address (OIDC Core, section 5.1.1).'),
  fields: (t) =>
    Object.fromEntries(
      ADDRESS_MEMBERS.map((member) => [
        member,
        t.exposeString(member, { nullable: true, description: ADDRESS_FIELDS[member].description }),
      ]),
    ),
})

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
    // The kind of a field selects its column type; descriptions come from schema.prisma.
    const exposeField = (name: keyof typeof USER_FIELD_DEFINITIONS) => {
      const rule = toOwnFieldRule(name)
      switch (USER_FIELD_DEFINITIONS[name].kind) {
        case 'id':
          return t.exposeID('id', { description: ID_DESCRIPTION })
        case 'text':
          return t.exposeString(name as 'name', { ...rule, nullable: true })
        case 'flag':
          return t.exposeBoolean(name as 'locked', rule)
        case 'time':
          return t.expose(name as 'createdAt', { ...rule, type: 'DateTime' })
        case 'timeIfAny':
          return t.expose(name as 'lockedAt', { ...rule, type: 'DateTime', nullable: true })
        case 'address':
          return t.field({
            ...rule,
            type: AddressRef,
            nullable: true,
            description: 'Postal address.',
            resolve: toAddress,
          })
        case 'json':
          return name === 'appMetadata'
            ? t.expose(name, {
                ...withScope('users:read_app_metadata', "Free-form object; the applications'."),
                type: 'JSONObject',
                nullable: true,
              })
            : t.expose(name as 'userMetadata', { ...rule, type: 'JSONObject' })
      }
    }
    return {
      ...Object.fromEntries(USER_FIELDS.map((name) => [name, exposeField(name)])),
      roles: t.field({
        ...toOwnFieldRule('roles'),
        type: [RoleEnum],
        description: 'Roles determine which management scopes the user can get.',
        resolve: (user) => user.roles as Role[],
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
    args: { email: t.arg.string({ required: true, description: 'E-mail address.' }) },
    resolve: (query, _root, { email }, { ctx }) => nullIfNotFound(getUserByEmail(ctx, email, query)),
  }),
)

builder.queryField('userByPhoneNumber', (t) =>
  t.prismaField({
    ...withScope('users:read', 'The user with a phone number, in any notation; null when there is none.'),
    type: 'User',
    nullable: true,
    args: {
      phoneNumber: t.arg.string({ required: true, description: 'Phone number, preferably in E.164 form.' }),
    },
    resolve: (query, _root, { phoneNumber }, { ctx }) =>
      nullIfNotFound(getUserByPhoneNumber(ctx, phoneNumber, query)),
  }),
)
