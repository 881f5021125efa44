import { getAdministeredId } from '../access/administered-organization.ts'
import { Conflict, NotFound } from '../core/errors.ts'
import { orAdministrator, withScope } from '../graphql/field-access.ts'
import { Node, registerNode } from '../graphql/node.graphql.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { idShape } from '../schema/response-shapes.ts'
import { AppRoleCreate, AppRolePatch, AppRoleShape } from './app-roles.fields.ts'
import {
  type AppRole,
  createAppRole,
  deleteAppRole,
  findAppRoles,
  getAppRole,
  listAppRoles,
  toAppRoleListName,
  updateAppRole,
} from './app-roles.ts'

export const APP_ROLE = defineResource<AppRole>({
  member: 'appRole',
  words: 'role',
  ref: defineObjectType<AppRole>(AppRoleShape, {
    ...orAdministrator(
      withScope('roles:read', 'A named set of permissions at APIs.'),
      ({ assignableTo }: AppRole, ctx) => (assignableTo.includes('member') ? getAdministeredId(ctx) : null),
    ),
    interfaces: [Node],
  }),
  scope: 'roles:read',
  shape: AppRoleShape,
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toAppRoleListName(tenant), id),
})

registerNode('role', {
  ref: APP_ROLE.ref,
  scope: APP_ROLE.scope,
  load: (id, { loaders }) => loaders.over(findAppRoles).load(id),
})

export const appRoleOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createAppRole',
    summary: 'Creates a role of permissions at APIs. It gives no scope of the management API.',
    scope: 'roles:write',
    isCreation: true,
    input: AppRoleCreate,
    errors: [Conflict, NotFound],
    output: { appRole: APP_ROLE },
    rest: { method: 'POST', path: '/app-roles', status: 201, location: ({ id }) => `/app-roles/${id}` },
    run: async (ctx, _ids, input) => ({ appRole: await createAppRole(ctx, input) }),
  }),
  ...defineList({
    name: 'listAppRoles',
    summary: 'The roles of the tenant with their permissions, oldest first.',
    resource: APP_ROLE,
    path: '/app-roles',
    run: listAppRoles,
  }),
  ...defineLookup({
    name: 'getAppRole',
    field: 'appRole',
    summary: 'A role.',
    resource: APP_ROLE,
    target: 'appRoleId',
    path: '/app-roles/:appRoleId',
    run: getAppRole,
  }),
  ...defineMutation({
    name: 'updateAppRole',
    summary:
      'Updates a role. Omitted fields are unchanged; null unsets. `permissions` are all that it gives from then on.',
    scope: 'roles:write',
    targets: ['appRoleId'],
    input: AppRolePatch,
    errors: [Conflict, NotFound],
    output: { appRole: APP_ROLE },
    rest: { method: 'PATCH', path: '/app-roles/:appRoleId' },
    run: async (ctx, { appRoleId }, input) => ({ appRole: await updateAppRole(ctx, appRoleId, input) }),
  }),
  ...defineMutation({
    name: 'deleteAppRole',
    summary: 'Deletes a role, which all who held it lose.',
    scope: 'roles:write',
    targets: ['appRoleId'],
    errors: [NotFound],
    output: { deletedAppRoleId: idShape.meta({ description: 'Id of the deleted role.' }) },
    rest: { method: 'DELETE', path: '/app-roles/:appRoleId', message: 'The role was deleted.' },
    run: (ctx, { appRoleId }) => deleteAppRole(ctx, appRoleId),
  }),
]
