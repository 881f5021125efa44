import { Conflict, InvalidInput, NotFound } from '../core/errors.ts'
import { getDatamodel } from '../generated/pothos.ts'
import type { User } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { markCreation } from '../graphql/idempotency.ts'
import { requireNodeId } from '../graphql/node.graphql.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { RoleEnum } from '../graphql/roles.graphql.ts'
import { EXPECTED_UPDATED_AT_DESCRIPTION } from '../schema/expected-updated-at.ts'
import { setUserRoles } from './roles.ts'
import { ADDRESS_FIELDS, ADDRESS_MEMBERS, USER_FIELD_DEFINITIONS, WRITABLE_FIELDS } from './users.fields.ts'
import { UserRef } from './users.graphql.ts'
import { createUser, deleteUser, lockUser, unlockUser, updateUser } from './users.ts'

const AddressInput = builder.inputType('AddressInput', {
  description:
    'A postal address. Omitted = unchanged, null = unset; in a change, an empty string = unset too.',
  fields: (t) =>
    Object.fromEntries(
      ADDRESS_MEMBERS.map((member) => [
        member,
        t.string({ description: ADDRESS_FIELDS[member].description }),
      ]),
    ),
})

/** Descriptions of the columns in schema.prisma. */
const DOCUMENTATION = new Map(
  getDatamodel().datamodel.models.User?.fields.map(({ name, ...field }) => [
    name,
    (field as { documentation?: string }).documentation,
  ]),
)

const INPUT_NOTES: Partial<Record<keyof typeof USER_FIELD_DEFINITIONS, string>> = {
  email:
    'RFC 5322 addr-spec; unique in the tenant. A new one is unverified unless emailVerified says otherwise.',
  emailVerified: 'Whether the address is verified. Cannot be true without email.',
  birthdate: 'YYYY-MM-DD, 0000-MM-DD or YYYY.',
  zoneinfo: 'Name of the time zone database, such as Europe/Berlin.',
  locale: 'BCP 47 language tag, such as de-AT.',
  phoneNumber:
    'Preferably with its country code, in any notation, an extension as ;ext=: then it is stored in E.164. Another number is stored as given, and nobody signs in by it. Unique in the tenant. A new one is unverified unless phoneNumberVerified says otherwise.',
  phoneNumberVerified:
    'Whether the number is verified. Cannot be true without a phoneNumber that has its country code.',
  locked: 'True locks the user like lockUser, false unlocks.',
  address: 'Merged member by member.',
  userMetadata: 'Replaced as a whole; 64 KB at most.',
  appMetadata: 'Replaced as a whole; 64 KB at most.',
}

/** Builds an input type of these fields of a user. */
export const defineUserFieldsInput = (name: string, names: readonly (typeof WRITABLE_FIELDS)[number][]) =>
  builder.inputType(name, {
    description:
      'Omitted = unchanged, null = unset; in a change, an empty string unsets a text. In a creation, it is no value.',
    fields: (t) =>
      Object.fromEntries(
        names.map((name) => {
          const description = INPUT_NOTES[name] ?? DOCUMENTATION.get(name) ?? name
          switch (USER_FIELD_DEFINITIONS[name].kind) {
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

const UserFieldsInput = defineUserFieldsInput('UserFieldsInput', WRITABLE_FIELDS)

const UserPayload = builder.objectRef<{ user: User }>('UserPayload').implement({
  ...withPublicAccess('The changed user.'),
  fields: (t) => ({
    // Callers with the write scope alone must still learn that the write succeeded.
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user after the change; null, with an error, for callers without users:read.',
      resolve: ({ user }) => user,
    }),
  }),
})

const DeleteUserPayload = builder.objectRef<{ deletedUserId: string }>('DeleteUserPayload').implement({
  ...withPublicAccess('The user was deleted.'),
  fields: (t) => ({ deletedUserId: t.exposeID('deletedUserId', { description: 'Id of the deleted user.' }) }),
})

const CreateUserInput = builder.inputType('CreateUserInput', {
  description: 'Input of createUser.',
  fields: (t) => ({
    fields: t.field({ type: UserFieldsInput, required: true, description: 'The fields of the new user.' }),
  }),
})

builder.mutationField('createUser', (t) =>
  t.field({
    ...markCreation(
      withScope(
        'users:write',
        'Creates a user. E-mail address and phone number must be unique in the tenant.',
      ),
    ),
    ...toResultOptions(InvalidInput, Conflict),
    type: UserPayload,
    args: { input: t.arg({ type: CreateUserInput, required: true, description: 'The new user.' }) },
    resolve: async (_root, { input }, { ctx }) => ({ user: await createUser(ctx, input.fields) }),
  }),
)

const UpdateUserInput = builder.inputType('UpdateUserInput', {
  description: 'Input of updateUser.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user.' }),
    expectedUpdatedAt: t.field({ type: 'DateTime', description: EXPECTED_UPDATED_AT_DESCRIPTION }),
    fields: t.field({ type: UserFieldsInput, required: true, description: 'The fields to update.' }),
  }),
})

builder.mutationField('updateUser', (t) =>
  t.field({
    ...withScope('users:write', 'Updates a user.'),
    ...toResultOptions(InvalidInput, Conflict, NotFound),
    type: UserPayload,
    args: {
      input: t.arg({ type: UpdateUserInput, required: true, description: 'The user and the change.' }),
    },
    resolve: async (_root, { input: { userId, expectedUpdatedAt, fields } }, { ctx }) => ({
      user: await updateUser(ctx, requireNodeId('user', userId, 'userId'), { ...fields, expectedUpdatedAt }),
    }),
  }),
)

const DeleteUserInput = builder.inputType('DeleteUserInput', {
  description: 'Input of deleteUser.',
  fields: (t) => ({ userId: t.id({ required: true, description: 'Id of the user.' }) }),
})

builder.mutationField('deleteUser', (t) =>
  t.field({
    ...withScope('users:write', 'Deletes a user and all data of the user permanently.'),
    ...toResultOptions(InvalidInput, NotFound),
    type: DeleteUserPayload,
    args: { input: t.arg({ type: DeleteUserInput, required: true, description: 'The user.' }) },
    resolve: (_root, { input: { userId } }, { ctx }) =>
      deleteUser(ctx, requireNodeId('user', userId, 'userId')),
  }),
)

const LockUserInput = builder.inputType('LockUserInput', {
  description: 'Input of lockUser.',
  fields: (t) => ({ userId: t.id({ required: true, description: 'Id of the user.' }) }),
})

builder.mutationField('lockUser', (t) =>
  t.field({
    ...withScope(
      'users:write',
      'Locks a user. Sessions, tokens and codes end immediately, and the user cannot sign in.',
    ),
    ...toResultOptions(InvalidInput, NotFound),
    type: UserPayload,
    args: { input: t.arg({ type: LockUserInput, required: true, description: 'The user.' }) },
    resolve: async (_root, { input: { userId } }, { ctx }) => ({
      user: await lockUser(ctx, requireNodeId('user', userId, 'userId')),
    }),
  }),
)

const UnlockUserInput = builder.inputType('UnlockUserInput', {
  description: 'Input of unlockUser.',
  fields: (t) => ({ userId: t.id({ required: true, description: 'Id of the user.' }) }),
})

builder.mutationField('unlockUser', (t) =>
  t.field({
    ...withScope('users:write', 'Unlocks a user. Sessions and tokens that the lock ended stay ended.'),
    ...toResultOptions(InvalidInput, NotFound),
    type: UserPayload,
    args: { input: t.arg({ type: UnlockUserInput, required: true, description: 'The user.' }) },
    resolve: async (_root, { input: { userId } }, { ctx }) => ({
      user: await unlockUser(ctx, requireNodeId('user', userId, 'userId')),
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
      description: 'All roles of the user after the change.',
    }),
  }),
})

builder.mutationField('setUserRoles', (t) =>
  t.field({
    ...withScope(
      'users:write',
      'Sets the roles of a user. Callers can only grant or remove scopes that they have.',
    ),
    ...toResultOptions(InvalidInput, NotFound),
    type: UserPayload,
    args: {
      input: t.arg({ type: SetUserRolesInput, required: true, description: 'The user and the roles.' }),
    },
    resolve: async (_root, { input: { userId, ...roles } }, { ctx }) => ({
      user: await setUserRoles(ctx, requireNodeId('user', userId, 'userId'), roles),
    }),
  }),
)
