import { builder, type InputFields } from '../graphql/builder.ts'
import { withScope } from '../graphql/field-access.ts'
import { requireNodeId } from '../graphql/node.graphql.ts'
import { buildInputFields, toObjectType } from '../graphql/shape-fields.ts'
import { defineList } from '../operations/list.ts'
import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { USER } from '../users/users.operations.ts'
import {
  PERMISSION_FILTER,
  PermissionCheck,
  PermissionChecks,
  PermissionResultShape,
  PermissionResultsShape,
  UserPermissionShape,
} from './checks.fields.ts'
import {
  checkPermission,
  checkPermissions,
  listPermittedUsers,
  listUserPermissions,
  type PermissionResult,
} from './checks.ts'

const CHECK = {
  summary: 'Whether a user has a permission at an API, as of now, in the tenant or in an organization.',
  scope: 'roles:read',
} as const
const CHECKS = {
  summary: 'Answers up to 1000 checks at once, in their order.',
  scope: 'roles:read',
} as const

const ResultRef = toObjectType<PermissionResult>(PermissionResultShape)
/** What a check costs, in fields. */
const CHECK_COST = 2

builder.queryField('checkPermission', (t) =>
  t.field({
    ...withScope(CHECK.scope, CHECK.summary),
    type: ResultRef,
    nullable: true,
    complexity: { field: CHECK_COST, multiplier: 1 },
    args: builder.args((t) => buildInputFields(t as never, PermissionCheck.shape)) as never,
    resolve: (_root, given, { ctx }) => checkPermission(ctx, given),
  }),
)

builder.queryField('checkPermissions', (t) =>
  t.field({
    ...withScope(CHECKS.scope, CHECKS.summary),
    type: [ResultRef],
    nullable: true,
    complexity: ({ checks }: { checks?: unknown[] }) => ({
      field: CHECK_COST,
      multiplier: checks?.length ?? 1,
    }),
    args: builder.args((t) => buildInputFields(t as never as InputFields, PermissionChecks.shape)) as never,
    resolve: async (_root, given, { ctx }) => (await checkPermissions(ctx, given)).results,
  }),
)

/** Permissions of a user that a query is charged for. */
const USUAL_PERMISSIONS = 50

builder.prismaObjectField('User', 'permissions', (t) =>
  t.field({
    ...withScope(
      'roles:read',
      'The permissions that the user has at APIs, directly and by groups, by API and name. A locked user can use none of them.',
    ),
    type: [toObjectType<{ api: string; name: string }>(UserPermissionShape)],
    nullable: true,
    complexity: { field: 1, multiplier: USUAL_PERMISSIONS },
    args: {
      organizationId: t.arg.id({
        description: 'Those in this organization too, of which the user is a member.',
      }),
    },
    resolve: ({ id }, { organizationId }, { ctx }) =>
      listUserPermissions(
        ctx,
        id,
        organizationId ? requireNodeId('organization', organizationId, 'organizationId') : null,
      ),
  }),
)

export const checkOperations: readonly RestRoute[] = [
  defineRestRoute({
    ...CHECK,
    method: 'POST',
    path: '/permission-check',
    operationId: 'checkPermission',
    body: PermissionCheck,
    response: PermissionResultShape,
    handle: (ctx, { body }) => checkPermission(ctx, body),
  }),
  defineRestRoute({
    ...CHECKS,
    method: 'POST',
    path: '/permission-checks',
    operationId: 'checkPermissions',
    body: PermissionChecks,
    response: PermissionResultsShape,
    handle: (ctx, { body }) => checkPermissions(ctx, body),
  }),
  ...defineList({
    name: 'listPermittedUsers',
    field: 'whoCan',
    summary: 'The users who have a permission at an API and are not locked, oldest first.',
    resource: { ...USER, member: 'permission', members: 'users' },
    filter: PERMISSION_FILTER,
    path: '/permitted-users',
    run: listPermittedUsers,
  }),
]
