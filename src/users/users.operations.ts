import { Conflict, NotFound } from '../core/errors.ts'
import type { User } from '../generated/prisma/client.ts'
import { COUNT_COST } from '../graphql/limits/count-cost.ts'
import { defineList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { createIdShape } from '../schema/response-shapes.ts'
import { USER_FILTER, USER_ORDER } from './list/user-filter.fields.ts'
import { listUsers, toUserListName } from './list/user-list.ts'
import { toUserBody } from './user-body.ts'
import { EmailLookup, PhoneNumberLookup, UserCreate, UserPatch, UserShape } from './users.fields.ts'
import { UserRef } from './users.graphql.ts'
import {
  createUser,
  deleteUser,
  getUser,
  getUserByEmail,
  getUserByPhoneNumber,
  lockUser,
  unlockUser,
  updateUser,
} from './users.ts'

export const USER = defineResource<User>({
  member: 'user',
  ref: UserRef as never,
  scope: 'users:read',
  shape: UserShape,
  toBody: toUserBody,
  load: ({ user }, id) => user.load(id),
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toUserListName(tenant), id),
})

// REST writes the field `locked`.
defineMutation({
  name: 'lockUser',
  summary: 'Locks a user. Sessions, tokens and codes end immediately, and the user cannot sign in.',
  scope: 'users:write',
  targets: ['userId'],
  errors: [NotFound],
  output: { user: USER },
  run: async (ctx, { userId }) => ({ user: await lockUser(ctx, userId) }),
})

defineMutation({
  name: 'unlockUser',
  summary: 'Unlocks a user. Sessions and tokens that the lock ended stay ended.',
  scope: 'users:write',
  targets: ['userId'],
  errors: [NotFound],
  output: { user: USER },
  run: async (ctx, { userId }) => ({ user: await unlockUser(ctx, userId) }),
})

/** The query `user` selects columns and relations: users.graphql.ts. */
export const userOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createUser',
    summary: 'Creates a user. E-mail address and phone number must be unique in the tenant.',
    scope: 'users:write',
    isCreation: true,
    input: UserCreate,
    errors: [Conflict],
    output: { user: USER },
    rest: { method: 'POST', path: '/users', status: 201, location: ({ id }) => `/users/${id}` },
    run: async (ctx, _ids, input) => ({ user: await createUser(ctx, input) }),
  }),
  ...defineList({
    name: 'listUsers',
    summary: 'The users of the tenant, by default in order of creation.',
    resource: USER,
    filter: USER_FILTER,
    order: USER_ORDER,
    path: '/users',
    model: 'User',
    getCountCost: ({ filter }) => (Object.keys(filter ?? {}).length > 0 ? COUNT_COST.scan : COUNT_COST.sum),
    // DateTime takes the text of dates too.
    run: listUsers as never,
  }),
  defineRestRoute({
    method: 'GET',
    path: '/users/by-email',
    operationId: 'getUserByEmail',
    summary: 'Gets the user with an e-mail address.',
    scope: 'users:read',
    query: EmailLookup,
    response: UserShape,
    handle: async (ctx, { query }) => toUserBody(ctx, await getUserByEmail(ctx, query.email)),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/users/by-phone-number',
    operationId: 'getUserByPhoneNumber',
    summary: 'Gets the user with a phone number.',
    scope: 'users:read',
    query: PhoneNumberLookup,
    response: UserShape,
    handle: async (ctx, { query }) => toUserBody(ctx, await getUserByPhoneNumber(ctx, query.phoneNumber)),
  }),
  ...defineLookup({
    name: 'getUser',
    summary: 'Gets a user.',
    resource: USER,
    target: 'userId',
    path: '/users/:userId',
    run: (ctx, id) => getUser(ctx, id),
  }),
  ...defineMutation({
    name: 'updateUser',
    summary: "Updates a user. Omitted fields are unchanged; null and, for text, '' unset a field.",
    scope: 'users:write',
    targets: ['userId'],
    input: UserPatch,
    errors: [Conflict, NotFound],
    output: { user: USER },
    rest: { method: 'PATCH', path: '/users/:userId' },
    run: async (ctx, { userId }, input) => ({ user: await updateUser(ctx, userId, input) }),
  }),
  ...defineMutation({
    name: 'deleteUser',
    summary: 'Deletes a user and all data of the user permanently.',
    scope: 'users:write',
    targets: ['userId'],
    errors: [NotFound],
    output: { deletedUserId: createIdShape('user').meta({ description: 'Id of the deleted user.' }) },
    rest: { method: 'DELETE', path: '/users/:userId', message: 'The user was deleted.' },
    run: (ctx, { userId }) => deleteUser(ctx, userId),
  }),
]
