import { Conflict, InvalidInput, NotFound } from '../errors.ts'
import { EXPECTED_UPDATED_AT } from '../expected-updated-at.ts'
import { getDatamodel } from '../generated/pothos.ts'
import type { User } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { creation } from '../graphql/idempotency.ts'
import { requireId } from '../graphql/node.graphql.ts'
import { resultOf } from '../graphql/result.ts'
import { open, scoped } from '../graphql/scoped.ts'
import { setUserRoles } from './roles.ts'
import { ADDRESS, ADDRESS_MEMBERS, FIELDS, WRITABLE_FIELDS } from './users.fields.ts'
import { RoleEnum, UserRef } from './users.graphql.ts'
import { createUser, deleteUser, lockUser, unlockUser, updateUser } from './users.ts'

const AddressInput = builder.inputType('AddressInput', {
  description: 'A postal address. Omitted = unchanged, empty string or null = unset.',
  fields: (t) =>
    Object.fromEntries(
      ADDRESS_MEMBERS.map((member) => [member, t.string({ description: ADDRESS[member].description })]),
    ),
})

/** What schema.prisma says of the columns. */
const DOCUMENTATION = new Map(
  getDatamodel().datamodel.models.User?.fields.map(({ name, ...field }) => [
    name,
    (field as { documentation?: string }).documentation,
  ]),
)

const HOW_TO_WRITE: Partial<Record<keyof typeof FIELDS, string>> = {
  email:
    'RFC 5322 addr-spec; unique in the tenant. A new one is unverified unless emailVerified says otherwise.',
  emailVerified: 'Whether the address was proven. Cannot be true without email.',
  birthdate: 'YYYY-MM-DD, 0000-MM-DD or YYYY.',
  zoneinfo: 'Name of the time zone database, such as Europe/Berlin.',
  locale: 'BCP 47 language tag, such as de-AT.',
  phoneNumber:
    'E.164 recommended, an extension as ;ext=; unique in the tenant. A new one is unverified unless phoneNumberVerified says otherwise.',
  phoneNumberVerified: 'Whether the number was proven. Cannot be true unless the number is in E.164 form.',
  locked: 'True locks as lockUser does, false unlocks.',
  address: 'Merged member by member.',
  userMetadata: 'Replaced as a whole; 64 KB at most.',
  appMetadata: 'Replaced as a whole; 64 KB at most.',
}

/** An input of these fields of a user. */
export const userFieldsInput = (name: string, names: readonly (typeof WRITABLE_FIELDS)[number][]) =>
  builder.inputType(name, {
    description: 'Omitted = unchanged, empty string or null = unset.',
    fields: (t) =>
      Object.fromEntries(
        names.map((name) => {
          const description = HOW_TO_WRITE[name] ?? DOCUMENTATION.get(name) ?? name
          switch (FIELDS[name].kind) {
            case 'flag':
              return [name, t.boolean({ description })]
            case 'address':
              return [name, t.field({ type: AddressInput, description })]
            case 'json':
              return [name, t.field({ type: 'JSONObject', description })]
            default:
              return [name, t.string({ description })]
          }
        }),
      ),
  })

const UserFieldsInput = userFieldsInput('UserFieldsInput', WRITABLE_FIELDS)

const UserPayload = builder.objectRef<{ user: User }>('UserPayload').implement({
  ...open('The user that was written.'),
  fields: (t) => ({
    // Who may only write must still learn that the write was done.
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user as it is now; null, with an error, for callers without users:read.',
      resolve: ({ user }) => user,
    }),
  }),
})

const DeleteUserPayload = builder.objectRef<{ deletedUserId: string }>('DeleteUserPayload').implement({
  ...open('The user is gone.'),
  fields: (t) => ({ deletedUserId: t.exposeID('deletedUserId', { description: 'Id that the user had.' }) }),
})

const CreateUserInput = builder.inputType('CreateUserInput', {
  description: 'Input of createUser.',
  fields: (t) => ({
    fields: t.field({ type: UserFieldsInput, required: true, description: 'What the user is created with.' }),
  }),
})

builder.mutationField('createUser', (t) =>
  t.field({
    ...creation(
      scoped('users:write', 'Creates a user. E-mail address and phone number must be unique in the tenant.'),
    ),
    ...resultOf(InvalidInput, Conflict),
    type: UserPayload,
    args: { input: t.arg({ type: CreateUserInput, required: true, description: 'The new user.' }) },
    resolve: async (_root, { input }, { ctx }) => ({ user: await createUser(ctx, input.fields) }),
  }),
)

const UpdateUserInput = builder.inputType('UpdateUserInput', {
  description: 'Input of updateUser.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user.' }),
    expectedUpdatedAt: t.field({ type: 'DateTime', description: EXPECTED_UPDATED_AT }),
    fields: t.field({ type: UserFieldsInput, required: true, description: 'What is changed.' }),
  }),
})

builder.mutationField('updateUser', (t) =>
  t.field({
    ...scoped('users:write', 'Changes a user.'),
    ...resultOf(InvalidInput, Conflict, NotFound),
    type: UserPayload,
    args: {
      input: t.arg({ type: UpdateUserInput, required: true, description: 'The user and the change.' }),
    },
    resolve: async (_root, { input: { userId, expectedUpdatedAt, fields } }, { ctx }) => ({
      user: await updateUser(ctx, requireId('user', userId, 'userId'), { ...fields, expectedUpdatedAt }),
    }),
  }),
)

const DeleteUserInput = builder.inputType('DeleteUserInput', {
  description: 'Input of deleteUser.',
  fields: (t) => ({ userId: t.id({ required: true, description: 'Id of the user.' }) }),
})

builder.mutationField('deleteUser', (t) =>
  t.field({
    ...scoped('users:write', 'Deletes a user and everything of theirs, for ever.'),
    ...resultOf(InvalidInput, NotFound),
    type: DeleteUserPayload,
    args: { input: t.arg({ type: DeleteUserInput, required: true, description: 'The user.' }) },
    resolve: (_root, { input: { userId } }, { ctx }) => deleteUser(ctx, requireId('user', userId, 'userId')),
  }),
)

const LockUserInput = builder.inputType('LockUserInput', {
  description: 'Input of lockUser.',
  fields: (t) => ({ userId: t.id({ required: true, description: 'Id of the user.' }) }),
})

builder.mutationField('lockUser', (t) =>
  t.field({
    ...scoped(
      'users:write',
      'Locks a user: sessions, tokens and codes end at once, and nobody can sign in as them.',
    ),
    ...resultOf(InvalidInput, NotFound),
    type: UserPayload,
    args: { input: t.arg({ type: LockUserInput, required: true, description: 'The user.' }) },
    resolve: async (_root, { input: { userId } }, { ctx }) => ({
      user: await lockUser(ctx, requireId('user', userId, 'userId')),
    }),
  }),
)

const UnlockUserInput = builder.inputType('UnlockUserInput', {
  description: 'Input of unlockUser.',
  fields: (t) => ({ userId: t.id({ required: true, description: 'Id of the user.' }) }),
})

builder.mutationField('unlockUser', (t) =>
  t.field({
    ...scoped('users:write', 'Lets a locked user sign in again. What the lock ended stays ended.'),
    ...resultOf(InvalidInput, NotFound),
    type: UserPayload,
    args: { input: t.arg({ type: UnlockUserInput, required: true, description: 'The user.' }) },
    resolve: async (_root, { input: { userId } }, { ctx }) => ({
      user: await unlockUser(ctx, requireId('user', userId, 'userId')),
    }),
  }),
)

const SetUserRolesInput = builder.inputType('SetUserRolesInput', {
  description: 'Input of setUserRoles.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user.' }),
    roles: t.field({
      type: [RoleEnum],
      required: true,
      description: 'All roles that the user has from now on.',
    }),
  }),
})

builder.mutationField('setUserRoles', (t) =>
  t.field({
    ...scoped(
      'users:write',
      'Gives a user exactly these roles. Nobody gives or takes scopes that they lack.',
    ),
    ...resultOf(InvalidInput, NotFound),
    type: UserPayload,
    args: {
      input: t.arg({ type: SetUserRolesInput, required: true, description: 'The user and the roles.' }),
    },
    resolve: async (_root, { input: { userId, ...roles } }, { ctx }) => ({
      user: await setUserRoles(ctx, requireId('user', userId, 'userId'), roles),
    }),
  }),
)
