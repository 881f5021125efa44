import { DoneShape, defineRestRoute, type RestRoute, toDoneBody } from '../rest/route.ts'
import { toPageEnvelope } from '../schema/page.ts'
import { createListShape } from '../schema/response-shapes.ts'
import { toUserBody } from './user-body.ts'
import { UserFilter, UserOrder } from './user-filter.fields.ts'
import { listUsers } from './user-list.ts'
import { EmailLookup, PhoneNumberLookup, UserCreate, UserPatch, UserShape } from './users.fields.ts'
import { createUser, deleteUser, getUser, getUserByEmail, getUserByPhoneNumber, updateUser } from './users.ts'

export const userRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'POST',
    path: '/users',
    operationId: 'createUser',
    summary: 'Creates a user. E-mail address and phone number must be unique in the tenant.',
    scope: 'users:write',
    idempotent: true,
    status: 201,
    location: ({ id }) => `/users/${id}`,
    body: UserCreate,
    response: UserShape,
    errors: [409],
    handle: async (ctx, { body }) => toUserBody(ctx, await createUser(ctx, body)),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/users',
    operationId: 'listUsers',
    summary: 'Lists the users, by default in order of creation.',
    scope: 'users:read',
    paged: true,
    filter: UserFilter,
    query: UserOrder,
    response: createListShape('users', UserShape),
    handle: async (ctx, { paging, filter, query }) => {
      const page = await listUsers(ctx, { ...paging, ...query, filter })
      return toPageEnvelope(ctx, page, 'users', (user) => toUserBody(ctx, user))
    },
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
  defineRestRoute({
    method: 'GET',
    path: '/users/:userId',
    operationId: 'getUser',
    summary: 'Gets a user.',
    scope: 'users:read',
    response: UserShape,
    handle: async (ctx, { params }) => toUserBody(ctx, await getUser(ctx, params.userId)),
  }),
  defineRestRoute({
    method: 'PATCH',
    path: '/users/:userId',
    operationId: 'updateUser',
    summary: "Updates a user. Omitted fields are unchanged; null and, for text, '' unset a field.",
    scope: 'users:write',
    body: UserPatch,
    response: UserShape,
    errors: [409],
    handle: async (ctx, { params, body }) => toUserBody(ctx, await updateUser(ctx, params.userId, body)),
  }),
  defineRestRoute({
    method: 'DELETE',
    path: '/users/:userId',
    operationId: 'deleteUser',
    summary: 'Deletes a user and all data of the user permanently.',
    scope: 'users:write',
    response: DoneShape,
    handle: async (ctx, { params }) => {
      await deleteUser(ctx, params.userId)
      return toDoneBody(ctx, 'The user was deleted.')
    },
  }),
]
