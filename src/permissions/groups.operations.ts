import { Conflict, NotFound } from '../core/errors.ts'
import type { User } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { type ConnectionOf, CURSOR_ARGS, connectionField } from '../graphql/connection.ts'
import { orAdministrator, withScope } from '../graphql/field-access.ts'
import { Node, registerNode } from '../graphql/node.graphql.ts'
import { OrganizationRef } from '../graphql/object-refs.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineList, defineNestedList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { idShape } from '../schema/response-shapes.ts'
import { USER } from '../users/users.operations.ts'
import { APP_ROLE, HOLDER } from './app-roles.operations.ts'
import { GROUP_FILTER, GroupCreate, GroupMembers, GroupPatch, GroupShape } from './groups.fields.ts'
import {
  addGroupMembers,
  createGroup,
  deleteGroup,
  deleteGroupMembers,
  findGroups,
  findUserGroups,
  type Group,
  getGroup,
  listGroupMembers,
  listGroups,
  toGroupListName,
  updateGroup,
} from './groups.ts'
import { findGroupAppRoles } from './role-assignments.ts'

export const GROUP = defineResource<Group>({
  member: 'group',
  ref: defineObjectType<Group>(
    GroupShape,
    {
      ...orAdministrator(
        withScope(
          'roles:read',
          'Users of the tenant, or members of an organization, who get roles together.',
        ),
        ({ organizationId }: Group) => organizationId,
      ),
      interfaces: [Node],
    },
    (t) => ({
      appRoles: t.field({
        type: [APP_ROLE.ref],
        nullable: true,
        description: 'The roles that it gives its members and those of the groups nested in it, by name.',
        resolve: async ({ id }, _args, { loaders }) =>
          (await loaders.over(findGroupAppRoles).load(id))?.appRoles ?? [],
      }),
      organization: t.field({
        type: OrganizationRef,
        nullable: true,
        description: 'The organization whose group it is.',
        resolve: ({ organizationId }, _args, { loaders }) =>
          organizationId === null ? null : loaders.organization.load(organizationId),
      }),
      members: t.field({
        ...withScope('users:read', 'Its own members, without those of the groups nested in it.'),
        ...connectionField(USER.getConnection() as ConnectionOf<User>),
        args: CURSOR_ARGS,
        resolve: ({ id }, args, { ctx }) => listGroupMembers(ctx, id, args),
      }),
    }),
  ),
  scope: 'roles:read',
  shape: GroupShape,
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toGroupListName(tenant), id),
})

builder.objectField(GROUP.ref, 'parent', (t) =>
  t.field({
    type: GROUP.ref,
    nullable: true,
    description: 'The group that it is nested in.',
    resolve: ({ parentId }, _args, { loaders }) =>
      parentId === null ? null : loaders.over(findGroups).load(parentId),
  }),
)

builder.objectField(HOLDER.ref, 'group', (t) =>
  t.field({
    type: GROUP.ref,
    nullable: true,
    description: 'The group.',
    resolve: ({ groupId }, _args, { loaders }) =>
      groupId === null ? null : loaders.over(findGroups).load(groupId),
  }),
)

registerNode('group', {
  ref: GROUP.ref,
  scope: GROUP.scope,
  load: (id, { loaders }) => loaders.over(findGroups).load(id),
})

// A list without pages: a user is in a hundred groups at most.
builder.prismaObjectField('User', 'groups', (t) =>
  t.field({
    ...withScope('roles:read', 'The groups that the user is in, by name, without those around them.'),
    type: [GROUP.ref],
    nullable: true,
    resolve: async ({ id }, _args, { loaders }) =>
      (await loaders.over(findUserGroups).load(id))?.groups ?? [],
  }),
)

export const groupOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createGroup',
    inOrganization: ['name', 'description', 'parentId'],
    summary: 'Creates a group, in the tenant or in an organization. Groups are nested three deep at most.',
    scope: 'roles:write',
    isCreation: true,
    input: GroupCreate,
    errors: [Conflict, NotFound],
    output: { group: GROUP },
    rest: { method: 'POST', path: '/groups', status: 201, location: ({ id }) => `/groups/${id}` },
    run: async (ctx, _ids, input) => ({ group: await createGroup(ctx, input) }),
  }),
  ...defineList({
    name: 'listGroups',
    inOrganization: true,
    summary: 'The groups of the tenant and of all organizations, oldest first.',
    resource: GROUP,
    path: '/groups',
    filter: GROUP_FILTER,
    run: listGroups,
  }),
  ...defineLookup({
    name: 'getGroup',
    inOrganization: true,
    field: 'group',
    summary: 'A group.',
    resource: GROUP,
    target: 'groupId',
    path: '/groups/:groupId',
    run: getGroup,
  }),
  ...defineMutation({
    name: 'updateGroup',
    inOrganization: ['name', 'description', 'parentId', 'expectedUpdatedAt'],
    summary:
      'Updates a group. Omitted fields are unchanged; null unsets. `parentId` nests it in another one.',
    scope: 'roles:write',
    targets: ['groupId'],
    input: GroupPatch,
    errors: [Conflict, NotFound],
    output: { group: GROUP },
    rest: { method: 'PATCH', path: '/groups/:groupId' },
    run: async (ctx, { groupId }, input) => ({ group: await updateGroup(ctx, groupId, input) }),
  }),
  ...defineMutation({
    name: 'deleteGroup',
    inOrganization: [],
    summary: 'Deletes a group, in which no other is nested. Its members lose its roles.',
    scope: 'roles:write',
    targets: ['groupId'],
    errors: [Conflict, NotFound],
    output: { deletedGroupId: idShape.meta({ description: 'Id of the deleted group.' }) },
    rest: { method: 'DELETE', path: '/groups/:groupId', message: 'The group was deleted.' },
    run: (ctx, { groupId }) => deleteGroup(ctx, groupId),
  }),
  ...defineNestedList({
    name: 'listGroupMembers',
    summary: 'The members of a group, without those of the groups nested in it, oldest user first.',
    resource: { ...USER, members: 'users' },
    target: 'groupId',
    path: '/groups/:groupId/members',
    run: listGroupMembers,
  }),
  ...defineMutation({
    name: 'addGroupMembers',
    inOrganization: ['userIds'],
    summary: 'Adds up to 1000 users to a group. Those who are in it already stay.',
    scope: 'roles:write',
    targets: ['groupId'],
    input: GroupMembers,
    errors: [Conflict, NotFound],
    output: { group: GROUP },
    rest: { method: 'POST', path: '/groups/:groupId/members' },
    run: async (ctx, { groupId }, input) => ({ group: await addGroupMembers(ctx, groupId, input) }),
  }),
  ...defineMutation({
    name: 'deleteGroupMembers',
    inOrganization: ['userIds'],
    summary: 'Removes up to 1000 users from a group. Those who are not in it change nothing.',
    scope: 'roles:write',
    targets: ['groupId'],
    input: GroupMembers,
    errors: [NotFound],
    output: { group: GROUP },
    rest: { method: 'POST', path: '/groups/:groupId/members/delete' },
    run: async (ctx, { groupId }, input) => ({ group: await deleteGroupMembers(ctx, groupId, input) }),
  }),
]
