import { getAdministeredId } from '../context/administered-organization.ts'
import { builder } from '../graphql/builder.ts'
import { type ConnectionOf, CURSOR_ARGS, connectionField } from '../graphql/connection.ts'
import { orAdministrator, withScope } from '../graphql/field-access.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineNestedList } from '../operations/list.ts'
import { defineResource } from '../operations/resource.ts'
import '../organizations/organizations.graphql.ts'
import type { RestRoute } from '../rest/route.ts'
import { PermittedApiShape } from './apis.fields.ts'
import { listPermittedApis, type PermittedApi } from './apis.ts'
import { APP_ROLE } from './app-roles.operations.ts'
import { type AppRole, listOrganizationAppRoles } from './app-roles.ts'

const SUMMARY =
  'The roles at APIs that members of the organization may hold, those of the tenant and its own, oldest first.'

builder.prismaObjectField('Organization', 'appRoles', (t) =>
  t.field({
    ...orAdministrator(withScope('roles:read', SUMMARY), ({ id }: { id: string }) => id),
    ...connectionField(APP_ROLE.getConnection() as ConnectionOf<AppRole>),
    args: CURSOR_ARGS,
    select: { id: true },
    resolve: ({ id }, args, { ctx }) => listOrganizationAppRoles(ctx, id, args),
  }),
)

const APIS = 'The APIs with the permissions that roles of the organization may have, oldest first.'

const PERMITTED_API = defineResource<PermittedApi>({
  member: 'permittedApi',
  words: 'API',
  ref: defineObjectType<PermittedApi>(
    PermittedApiShape,
    // It says the same to each organization.
    orAdministrator(
      withScope('roles:read', String(PermittedApiShape.meta()?.description)),
      (_api: PermittedApi, ctx) => getAdministeredId(ctx),
    ),
  ),
  scope: 'roles:read',
  shape: PermittedApiShape,
})

builder.prismaObjectField('Organization', 'permittedApis', (t) =>
  t.field({
    ...orAdministrator(withScope('roles:read', APIS), ({ id }: { id: string }) => id),
    ...connectionField(PERMITTED_API.getConnection() as ConnectionOf<PermittedApi>),
    args: CURSOR_ARGS,
    select: { id: true },
    resolve: ({ id }, args, { ctx }) => listPermittedApis(ctx, id, args),
  }),
)

export const memberRoleOperations: readonly RestRoute[] = [
  ...defineNestedList({
    name: 'listOrganizationAppRoles',
    inOrganization: true,
    summary: SUMMARY,
    resource: APP_ROLE,
    target: 'organizationId',
    path: '/organizations/:organizationId/app-roles',
    run: listOrganizationAppRoles,
  }),
  ...defineNestedList({
    name: 'listPermittedApis',
    inOrganization: true,
    summary: APIS,
    resource: PERMITTED_API,
    target: 'organizationId',
    path: '/organizations/:organizationId/permitted-apis',
    run: listPermittedApis,
  }),
]
