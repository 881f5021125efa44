import { builder } from '../graphql/builder.ts'
import { type ConnectionOf, CURSOR_ARGS, connectionField } from '../graphql/connection.ts'
import { orAdministrator, withScope } from '../graphql/field-access.ts'
import { defineNestedList } from '../operations/list.ts'
import '../organizations/organizations.graphql.ts'
import type { RestRoute } from '../rest/route.ts'
import { APP_ROLE } from './app-roles.operations.ts'
import { type AppRole, listOrganizationAppRoles } from './app-roles.ts'

const SUMMARY = 'The roles at APIs that members of the organization may hold, oldest first.'

builder.prismaObjectField('Organization', 'appRoles', (t) =>
  t.field({
    ...orAdministrator(withScope('roles:read', SUMMARY), ({ id }: { id: string }) => id),
    ...connectionField(APP_ROLE.getConnection() as ConnectionOf<AppRole>),
    args: CURSOR_ARGS,
    select: { id: true },
    resolve: ({ id }, args, { ctx }) => listOrganizationAppRoles(ctx, id, args),
  }),
)

export const memberRoleOperations: readonly RestRoute[] = defineNestedList({
  name: 'listOrganizationAppRoles',
  inOrganization: true,
  summary: SUMMARY,
  resource: APP_ROLE,
  target: 'organizationId',
  path: '/organizations/:organizationId/app-roles',
  run: listOrganizationAppRoles,
})
