import { CLIENT } from '../clients/clients.operations.ts'
import { Conflict, NotFound } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withScope } from '../graphql/field-access.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { USER } from '../users/users.operations.ts'
import { AppRoleSet, HeldAppRolesShape } from './app-roles.fields.ts'
import { APP_ROLE } from './app-roles.operations.ts'
import type { AppRole } from './app-roles.ts'
import {
  findClientAppRoles,
  findUserAppRoles,
  getClientAppRoles,
  getUserAppRoles,
  setClientAppRoles,
  setUserAppRoles,
} from './role-assignments.ts'

/** Null, with an error, for callers without roles:read. */
const HELD = { appRoles: HeldAppRolesShape.shape.appRoles.nullable() }

const toHeldBody = (ctx: Parameters<typeof APP_ROLE.toBody>[0], roles: readonly AppRole[]) => ({
  appRoles: roles.map((role) => APP_ROLE.toBody(ctx, role)),
})

// Lists without pages: somebody holds a hundred roles at most.
builder.prismaObjectField('User', 'appRoles', (t) =>
  t.field({
    ...withScope('roles:read', 'The roles at APIs that the user holds directly, by name.'),
    type: [APP_ROLE.ref],
    nullable: true,
    resolve: async ({ id }, _args, { loaders }) =>
      (await loaders.over(findUserAppRoles).load(id))?.appRoles ?? [],
  }),
)

builder.prismaObjectField('Client', 'appRoles', (t) =>
  t.field({
    ...withScope('roles:read', 'The roles at APIs that the client holds, by name.'),
    type: [APP_ROLE.ref],
    nullable: true,
    resolve: async ({ id }, _args, { loaders }) =>
      (await loaders.over(findClientAppRoles).load(id))?.appRoles ?? [],
  }),
)

export const roleAssignmentOperations: readonly RestRoute[] = [
  // GraphQL has the fields User.appRoles and Client.appRoles.
  defineRestRoute({
    method: 'GET',
    path: '/users/:userId/app-roles',
    operationId: 'getUserAppRoles',
    summary: 'The roles at APIs that a user holds directly, by name.',
    scope: 'roles:read',
    response: HeldAppRolesShape,
    handle: async (ctx, { params }) => toHeldBody(ctx, await getUserAppRoles(ctx, params.userId)),
  }),
  ...defineMutation({
    name: 'setUserAppRoles',
    summary:
      'Sets the roles at APIs that a user holds directly. Roles of the management API are another member: setUserRoles.',
    scope: 'roles:write',
    targets: ['userId'],
    input: AppRoleSet,
    errors: [NotFound],
    output: HELD,
    loaded: { user: { resource: USER, by: 'userId' } },
    rest: {
      method: 'PUT',
      path: '/users/:userId/app-roles',
      response: HeldAppRolesShape,
      toBody: (ctx, { appRoles }) => toHeldBody(ctx, appRoles as never),
    },
    run: async (ctx, { userId }, input) => ({
      appRoles: (await setUserAppRoles(ctx, userId, input)) as never,
      userId,
    }),
  }),
  defineRestRoute({
    method: 'GET',
    path: '/clients/:clientId/app-roles',
    operationId: 'getClientAppRoles',
    summary: 'The roles at APIs that a machine client holds, by name.',
    scope: 'roles:read',
    response: HeldAppRolesShape,
    handle: async (ctx, { params }) => toHeldBody(ctx, await getClientAppRoles(ctx, params.clientId)),
  }),
  ...defineMutation({
    name: 'setClientAppRoles',
    summary: 'Sets the roles at APIs that a machine client holds, for the tokens on its own behalf.',
    scope: 'roles:write',
    targets: ['clientId'],
    input: AppRoleSet,
    errors: [Conflict, NotFound],
    output: HELD,
    loaded: { client: { resource: CLIENT, by: 'clientId' } },
    rest: {
      method: 'PUT',
      path: '/clients/:clientId/app-roles',
      response: HeldAppRolesShape,
      toBody: (ctx, { appRoles }) => toHeldBody(ctx, appRoles as never),
    },
    run: async (ctx, { clientId }, input) => ({
      appRoles: (await setClientAppRoles(ctx, clientId, input)) as never,
      clientId,
    }),
  }),
]
