import { type RestRoute, restRoute } from '../rest/route.ts'
import { RoleSet } from './roles.fields.ts'
import { setUserRoles } from './roles.ts'
import { getUser } from './users.ts'

export const roleRoutes: readonly RestRoute[] = [
  restRoute({
    method: 'GET',
    path: '/users/:userId/roles',
    operationId: 'getUserRoles',
    summary: 'The roles of a user: they decide which management scopes the person can get.',
    scope: 'users:read',
    response: RoleSet,
    handle: async (ctx, { params }) => ({ roles: (await getUser(ctx, params.userId)).roles }),
  }),
  restRoute({
    method: 'PUT',
    path: '/users/:userId/roles',
    operationId: 'setUserRoles',
    summary: 'Gives a user exactly these roles. Nobody gives or takes scopes that they lack.',
    scope: 'users:write',
    body: RoleSet,
    response: RoleSet,
    handle: async (ctx, { params, body }) => ({
      roles: (await setUserRoles(ctx, params.userId, body)).roles,
    }),
  }),
]
