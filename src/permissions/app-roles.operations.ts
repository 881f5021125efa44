import { getAdministeredId } from '../context/administered-organization.ts'
import { Conflict, NotFound } from '../core/errors.ts'
import { type ConnectionOf, CURSOR_ARGS, connectionField } from '../graphql/connection.ts'
import { orAdministrator, withScope } from '../graphql/field-access.ts'
import { Node, registerNode } from '../graphql/node.graphql.ts'
import { ClientRef, OrganizationRef, UserRef } from '../graphql/object-refs.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineList, defineNestedList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { idShape } from '../schema/response-shapes.ts'
import {
  APP_ROLE_FILTER,
  AppRoleCreate,
  AppRolePatch,
  AppRoleShape,
  RoleHolderShape,
} from './app-roles.fields.ts'
import {
  type AppRole,
  createAppRole,
  deleteAppRole,
  findAppRoles,
  getAppRole,
  listAppRoles,
  listRoleHolders,
  type RoleHolder,
  toAppRoleListName,
  updateAppRole,
} from './app-roles.ts'

const HOLDERS = 'Who holds the role directly: users, machine clients, groups, and members of organizations.'

/** Holders, of whom each object is for those who may read it. */
export const HOLDER = defineResource<RoleHolder>({
  member: 'holder',
  ref: defineObjectType<RoleHolder>(
    RoleHolderShape,
    withScope('roles:read', String(RoleHolderShape.meta()?.description)),
    (t) => ({
      user: t.field({
        type: UserRef,
        nullable: true,
        description: 'The user, or the member.',
        resolve: ({ userId }, _args, { loaders }) => (userId === null ? null : loaders.user.load(userId)),
      }),
      client: t.field({
        type: ClientRef,
        nullable: true,
        description: 'The machine client.',
        resolve: ({ clientId }, _args, { loaders }) =>
          clientId === null ? null : loaders.client.load(clientId),
      }),
      organization: t.field({
        type: OrganizationRef,
        nullable: true,
        description: 'The organization of the member or of the group.',
        resolve: ({ organizationId }, _args, { loaders }) =>
          organizationId === null ? null : loaders.organization.load(organizationId),
      }),
    }),
  ),
  scope: 'roles:read',
  shape: RoleHolderShape,
})

export const APP_ROLE = defineResource<AppRole>({
  member: 'appRole',
  words: 'role',
  ref: defineObjectType<AppRole>(
    AppRoleShape,
    {
      ...orAdministrator(
        withScope('roles:read', 'A named set of permissions at APIs.'),
        ({ organizationId, assignableTo }: AppRole, ctx) =>
          organizationId ?? (assignableTo.includes('member') ? getAdministeredId(ctx) : null),
      ),
      interfaces: [Node],
    },
    (t) => ({
      holders: t.field({
        ...withScope('roles:read', HOLDERS),
        ...connectionField(HOLDER.getConnection() as ConnectionOf<RoleHolder>),
        args: CURSOR_ARGS,
        resolve: ({ id }, args, { ctx }) => listRoleHolders(ctx, id, args),
      }),
    }),
  ),
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
    inOrganization: ['name', 'description', 'permissions'],
    summary:
      'Creates a role of permissions at APIs, of the tenant or of an organization. It gives no scope of the management API.',
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
    inOrganization: true,
    summary: 'The roles of the tenant and of all organizations with their permissions, oldest first.',
    resource: APP_ROLE,
    path: '/app-roles',
    filter: APP_ROLE_FILTER,
    run: listAppRoles,
  }),
  ...defineLookup({
    name: 'getAppRole',
    inOrganization: true,
    field: 'appRole',
    summary: 'A role.',
    resource: APP_ROLE,
    target: 'appRoleId',
    path: '/app-roles/:appRoleId',
    run: getAppRole,
  }),
  ...defineNestedList({
    name: 'listAppRoleHolders',
    summary: HOLDERS,
    resource: HOLDER,
    target: 'appRoleId',
    path: '/app-roles/:appRoleId/holders',
    run: listRoleHolders,
  }),
  ...defineMutation({
    name: 'updateAppRole',
    inOrganization: ['name', 'description', 'permissions', 'expectedUpdatedAt'],
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
    inOrganization: [],
    summary: 'Deletes a role, which all who held it lose.',
    scope: 'roles:write',
    targets: ['appRoleId'],
    errors: [NotFound],
    output: { deletedAppRoleId: idShape.meta({ description: 'Id of the deleted role.' }) },
    rest: { method: 'DELETE', path: '/app-roles/:appRoleId', message: 'The role was deleted.' },
    run: (ctx, { appRoleId }) => deleteAppRole(ctx, appRoleId),
  }),
]
