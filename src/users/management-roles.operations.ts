import { Conflict, NotFound } from '../core/errors.ts'
import type { ManagementRole } from '../generated/prisma/client.ts'
import { withScope } from '../graphql/field-access.ts'
import { Node, registerNode } from '../graphql/node.graphql.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { idShape } from '../schema/response-shapes.ts'
import { ManagementRoleCreate, ManagementRolePatch, ManagementRoleShape } from './management-roles.fields.ts'
import {
  createManagementRole,
  deleteManagementRole,
  findManagementRoles,
  getManagementRole,
  listManagementRoles,
  toManagementRoleListName,
  updateManagementRole,
} from './management-roles.ts'

const MANAGEMENT_ROLE = defineResource<ManagementRole>({
  member: 'managementRole',
  words: 'management role',
  ref: defineObjectType<ManagementRole>(ManagementRoleShape, {
    ...withScope(
      'roles:read',
      'A role of the management API that the tenant has defined: a named set of scopes.',
    ),
    interfaces: [Node],
  }),
  scope: 'roles:read',
  shape: ManagementRoleShape,
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toManagementRoleListName(tenant), id),
})

registerNode('mgmtrole', {
  ref: MANAGEMENT_ROLE.ref,
  scope: MANAGEMENT_ROLE.scope,
  load: (id, { loaders }) => loaders.over(findManagementRoles).load(id),
})

export const managementRoleOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createManagementRole',
    summary: 'Defines a role of the management API. Callers can only give scopes that they have.',
    scope: 'roles:write',
    isCreation: true,
    input: ManagementRoleCreate,
    errors: [Conflict],
    output: { managementRole: MANAGEMENT_ROLE },
    rest: {
      method: 'POST',
      path: '/management-roles',
      status: 201,
      location: ({ id }) => `/management-roles/${id}`,
    },
    run: async (ctx, _ids, input) => ({ managementRole: await createManagementRole(ctx, input) }),
  }),
  ...defineList({
    name: 'listManagementRoles',
    summary: 'The roles of the management API that the tenant has defined, oldest first.',
    resource: MANAGEMENT_ROLE,
    path: '/management-roles',
    run: listManagementRoles,
  }),
  ...defineLookup({
    name: 'getManagementRole',
    field: 'managementRole',
    summary: 'A role of the management API that the tenant has defined.',
    resource: MANAGEMENT_ROLE,
    target: 'managementRoleId',
    path: '/management-roles/:managementRoleId',
    run: getManagementRole,
  }),
  ...defineMutation({
    name: 'updateManagementRole',
    summary:
      'Updates a role of the management API, for all who hold it. Omitted fields are unchanged; null unsets. The caller must have all scopes that it permits before and after.',
    scope: 'roles:write',
    targets: ['managementRoleId'],
    input: ManagementRolePatch,
    errors: [Conflict, NotFound],
    output: { managementRole: MANAGEMENT_ROLE },
    rest: { method: 'PATCH', path: '/management-roles/:managementRoleId' },
    run: async (ctx, { managementRoleId }, input) => ({
      managementRole: await updateManagementRole(ctx, managementRoleId, input),
    }),
  }),
  ...defineMutation({
    name: 'deleteManagementRole',
    summary:
      'Deletes a role of the management API that no user holds and no open invitation gives. The caller must have all its scopes.',
    scope: 'roles:write',
    targets: ['managementRoleId'],
    errors: [Conflict, NotFound],
    output: { deletedManagementRoleId: idShape.meta({ description: 'Id of the deleted role.' }) },
    rest: {
      method: 'DELETE',
      path: '/management-roles/:managementRoleId',
      message: 'The role was deleted.',
    },
    run: (ctx, { managementRoleId }) => deleteManagementRole(ctx, managementRoleId),
  }),
]
