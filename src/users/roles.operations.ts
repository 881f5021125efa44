import { NotFound } from '../core/errors.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { RoleSet } from './roles.fields.ts'
import { setUserRoles } from './roles.ts'
import { USER } from './users.operations.ts'
import { getUser } from './users.ts'

export const roleOperations: readonly RestRoute[] = [
  // GraphQL has the field User.roles.
  defineRestRoute({
    method: 'GET',
    path: '/users/:userId/roles',
    operationId: 'getUserRoles',
    summary: 'The roles of a user, which determine the management scopes that the user can get.',
    scope: 'users:read',
    response: RoleSet,
    handle: async (ctx, { params }) => ({ roles: (await getUser(ctx, params.userId)).roles }),
  }),
  ...defineMutation({
    name: 'setUserRoles',
    summary: 'Sets the roles of a user. Callers can only grant or remove scopes that they have.',
    scope: 'users:write',
    targets: ['userId'],
    input: RoleSet,
    errors: [NotFound],
    output: { user: USER },
    rest: {
      method: 'PUT',
      path: '/users/:userId/roles',
      response: RoleSet,
      toBody: (_ctx, { user }) => ({ roles: user.roles }),
    },
    run: async (ctx, { userId }, input) => ({ user: await setUserRoles(ctx, userId, input) }),
  }),
]
