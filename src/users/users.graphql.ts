import { ROLE_NAMES, type Role } from '../ctx.ts'
import type { User } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { ownUserId } from '../graphql/context.ts'
import { ID_DESCRIPTION, Node, orNull, registerNode, requireId } from '../graphql/node.graphql.ts'
import { open, scoped, scopedOrOwn } from '../graphql/scoped.ts'
import { addressOf } from './user-body.ts'
import { ADDRESS, ADDRESS_MEMBERS, type Address, FIELDS, USER_FIELDS } from './users.fields.ts'
import { getUser, getUserByEmail, getUserByPhoneNumber } from './users.ts'

const AddressRef = builder.objectRef<Address>('Address').implement({
  ...open('A postal address (OIDC Core, section 5.1.1).'),
  fields: (t) =>
    Object.fromEntries(
      ADDRESS_MEMBERS.map((member) => [
        member,
        t.exposeString(member, { nullable: true, description: ADDRESS[member].description }),
      ]),
    ),
})

export const RoleEnum = builder.enumType('Role', {
  description: 'A set of management scopes that a person can get.',
  values: Object.fromEntries(
    ROLE_NAMES.map((role) => [
      role.toUpperCase(),
      { value: role, description: `The scopes of role ${role}.` },
    ]),
  ) as Record<Uppercase<Role>, { value: Role; description: string }>,
})

/** A person. Further fields, such as the nested lists, are added by the files of what they list. */
export const UserRef = builder.prismaObject('User', {
  ...scopedOrOwn('users:read', 'A person who can sign in to the tenant.', (user: User) => user.id),
  interfaces: [Node],
  fields: (t) => {
    // The kinds stand for the columns of these names; descriptions come from schema.prisma.
    const fieldOf = (name: keyof typeof FIELDS) => {
      switch (FIELDS[name].kind) {
        case 'id':
          return t.exposeID('id', { description: ID_DESCRIPTION })
        case 'text':
          return t.exposeString(name as 'name', { nullable: true })
        case 'flag':
          return t.exposeBoolean(name as 'locked', {})
        case 'time':
          return t.expose(name as 'createdAt', { type: 'DateTime' })
        case 'timeIfAny':
          return t.expose(name as 'lockedAt', { type: 'DateTime', nullable: true })
        case 'address':
          return t.field({
            type: AddressRef,
            nullable: true,
            description: 'Postal address.',
            resolve: addressOf,
          })
        case 'json':
          return name === 'appMetadata'
            ? t.expose(name, {
                ...scoped('users:read_app_metadata', "Free-form object; the applications'."),
                type: 'JSONObject',
                nullable: true,
              })
            : t.expose(name as 'userMetadata', { type: 'JSONObject' })
      }
    }
    return {
      ...Object.fromEntries(USER_FIELDS.map((name) => [name, fieldOf(name)])),
      roles: t.field({
        type: [RoleEnum],
        description: 'Roles decide which management scopes a person can get.',
        select: { roles: true },
        resolve: (user) => user.roles as Role[],
      }),
      externalId: t.exposeString('externalId', { nullable: true }),
    }
  },
})

registerNode('user', {
  ref: UserRef,
  scope: 'users:read',
  isOwn: (id, context) => id === ownUserId(context),
  load: (id, { loaders }) => loaders.user.load(id),
})

builder.queryField('user', (t) =>
  t.prismaField({
    ...scoped('users:read', 'One user; null when there is none with this id.'),
    type: 'User',
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'Id of the user.' }) },
    resolve: (query, _root, { id }, { ctx }) => orNull(getUser(ctx, requireId('user', id), query)),
  }),
)

builder.queryField('userByEmail', (t) =>
  t.prismaField({
    ...scoped(
      'users:read',
      'The user with an e-mail address, however it is spelled; null when there is none.',
    ),
    type: 'User',
    nullable: true,
    args: { email: t.arg.string({ required: true, description: 'E-mail address.' }) },
    resolve: (query, _root, { email }, { ctx }) => orNull(getUserByEmail(ctx, email, query)),
  }),
)

builder.queryField('userByPhoneNumber', (t) =>
  t.prismaField({
    ...scoped('users:read', 'The user with a phone number, however it is written; null when there is none.'),
    type: 'User',
    nullable: true,
    args: { phoneNumber: t.arg.string({ required: true, description: 'Phone number, best in E.164 form.' }) },
    resolve: (query, _root, { phoneNumber }, { ctx }) =>
      orNull(getUserByPhoneNumber(ctx, phoneNumber, query)),
  }),
)
