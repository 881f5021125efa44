import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { RoleSet } from './roles.fields.ts'
import { setUserRoles } from './roles.ts'
import { getUser } from './users.ts'

export const roleRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'GET',
    path: '/users/:userId/roles',
    operationId: 'getUserRoles',
    summary: 'The roles of a user, which determine the management scopes that the user can get.',
    scope: 'users:read',
    response: RoleSet,
    handle: async (ctx, { params }) => ({ roles: (await getUser(ctx, params.userId)).roles }),
  }),
  defineRestRoute({
    method: 'PUT',
    path: '/users/:userId/roles',
    operationId: 'setUserRoles',
    summary: 'Sets the roles of a user. Callers can only grant or remove scopes that they have.',
    scope: 'users:write',
    body: RoleSet,
    response: RoleSet,
    handle: async (ctx, { params, body }) => ({
      roles: (await setUserRoles(ctx, params.userId, body)).roles,
    }),
  }),
]
