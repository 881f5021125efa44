import { toEnvelope } from '../page.ts'
import { Done, type RestRoute, restRoute, toDone } from '../rest/route.ts'
import { listShape } from '../shapes.ts'
import { toUser } from './user-body.ts'
import { UserFilter, UserOrder } from './user-filter.fields.ts'
import { listUsers } from './user-list.ts'
import { EmailLookup, PhoneNumberLookup, UserCreate, UserPatch, UserShape } from './users.fields.ts'
import { createUser, deleteUser, getUser, getUserByEmail, getUserByPhoneNumber, updateUser } from './users.ts'

/** A + that was not percent-encoded arrives as a space, and no number begins with one. */
const withPlus = ({ phoneNumber }: { phoneNumber?: unknown }) =>
  typeof phoneNumber === 'string' ? { phoneNumber: phoneNumber.replace(/^ /, '+') } : {}

export const userRoutes: readonly RestRoute[] = [
  restRoute({
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
    handle: async (ctx, { body }) => toUser(ctx, await createUser(ctx, body)),
  }),
  restRoute({
    method: 'GET',
    path: '/users',
    operationId: 'listUsers',
    summary: 'Lists the users, in order of creation unless told otherwise.',
    scope: 'users:read',
    paged: true,
    filter: UserFilter,
    query: UserOrder,
    response: listShape('users', UserShape),
    handle: async (ctx, { paging, filter, query }) => {
      const page = await listUsers(ctx, { ...paging, ...query, filter: { ...filter, ...withPlus(filter) } })
      return toEnvelope(page, 'users', (user) => toUser(ctx, user))
    },
  }),
  restRoute({
    method: 'GET',
    path: '/users/by-email',
    operationId: 'getUserByEmail',
    summary: 'Gets the user with an e-mail address.',
    scope: 'users:read',
    query: EmailLookup,
    response: UserShape,
    handle: async (ctx, { query }) => toUser(ctx, await getUserByEmail(ctx, query.email)),
  }),
  restRoute({
    method: 'GET',
    path: '/users/by-phone-number',
    operationId: 'getUserByPhoneNumber',
    summary: 'Gets the user with a phone number.',
    scope: 'users:read',
    query: PhoneNumberLookup,
    response: UserShape,
    handle: async (ctx, { query }) => {
      const { phoneNumber } = withPlus(query)
      return toUser(ctx, await getUserByPhoneNumber(ctx, phoneNumber))
    },
  }),
  restRoute({
    method: 'GET',
    path: '/users/:userId',
    operationId: 'getUser',
    summary: 'Gets a user.',
    scope: 'users:read',
    response: UserShape,
    handle: async (ctx, { params }) => toUser(ctx, await getUser(ctx, params.userId)),
  }),
  restRoute({
    method: 'PATCH',
    path: '/users/:userId',
    operationId: 'updateUser',
    summary: "Changes a user. Omitted fields are unchanged; '' and null unset a field.",
    scope: 'users:write',
    body: UserPatch,
    response: UserShape,
    errors: [409],
    handle: async (ctx, { params, body }) => toUser(ctx, await updateUser(ctx, params.userId, body)),
  }),
  restRoute({
    method: 'DELETE',
    path: '/users/:userId',
    operationId: 'deleteUser',
    summary: 'Deletes a user and everything of theirs, for ever.',
    scope: 'users:write',
    response: Done,
    handle: async (ctx, { params }) => {
      await deleteUser(ctx, params.userId)
      return toDone(ctx, 'The user was deleted.')
    },
  }),
]
