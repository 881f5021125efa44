import { CLIENT } from '../clients/clients.operations.ts'
import { getAdministeredId } from '../context/administered-organization.ts'
import type { Ctx } from '../context/context.ts'
import { Conflict, NotFound } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { orAdministrator, withScope } from '../graphql/field-access.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { requireInOrganization } from '../operations/in-organization.ts'
import { defineMutation } from '../operations/mutation.ts'
import type { Resource } from '../operations/resource.ts'
import { parseTargets } from '../operations/targets.ts'
import '../organizations/memberships.graphql.ts'
import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { USER } from '../users/users.operations.ts'
import {
  AppRoleSet,
  HeldAppRolesShape,
  HeldMemberAppRolesShape,
  ProvidedAppRoleShape,
  SetAppRolesShape,
} from './app-roles.fields.ts'
import { APP_ROLE } from './app-roles.operations.ts'
import type { AppRole } from './app-roles.ts'
import { findProvidedAppRoles, type ProvidedAppRole } from './provider-roles.ts'
import {
  findClientAppRoles,
  findMembershipAppRoles,
  findUserAppRoles,
  getClientAppRoles,
  getGroupAppRoles,
  getMembershipAppRoles,
  getUserAppRoles,
  setClientAppRoles,
  setGroupAppRoles,
  setMembershipAppRoles,
  setUserAppRoles,
} from './role-assignments.ts'

/** Null, with an error, for callers without roles:read. */
const HELD = SetAppRolesShape.shape

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

builder.prismaObjectField('Membership', 'appRoles', (t) =>
  t.field({
    ...orAdministrator(
      withScope('roles:read', 'The roles at APIs that the member holds in the organization, by name.'),
      ({ organizationId }: { organizationId: string }) => organizationId,
    ),
    select: { id: true, organizationId: true },
    type: [APP_ROLE.ref],
    nullable: true,
    resolve: async ({ id }, _args, { loaders }) =>
      (await loaders.over(findMembershipAppRoles).load(id))?.appRoles ?? [],
  }),
)

const PROVIDED =
  'Which of the roles that the member holds an identity provider gave by a claim, and takes away, by id.'

builder.prismaObjectField('Membership', 'providedAppRoles', (t) =>
  t.field({
    ...orAdministrator(
      withScope('roles:read', PROVIDED),
      ({ organizationId }: { organizationId: string }) => organizationId,
    ),
    select: { id: true, organizationId: true },
    type: [
      defineObjectType<ProvidedAppRole>(
        ProvidedAppRoleShape,
        orAdministrator(
          withScope('roles:read', String(ProvidedAppRoleShape.meta()?.description)),
          (_role: ProvidedAppRole, ctx) => getAdministeredId(ctx),
        ),
      ),
    ],
    nullable: true,
    resolve: async ({ id }, _args, { loaders }) =>
      (await loaders.over(findProvidedAppRoles).load(id))?.providedAppRoles ?? [],
  }),
)

type Roles = (ctx: Ctx, id: string) => Promise<AppRole[]>
type SetRoles = (ctx: Ctx, id: string, input: unknown) => Promise<AppRole[]>

/** Declares how the roles of one kind of holder are read and set. GraphQL reads them by a field of the holder. */
function defineAssignment(
  kind: 'User' | 'Client' | 'Membership' | 'Group',
  target: 'userId' | 'clientId' | 'membershipId' | 'groupId',
  words: string,
  get: Roles,
  set: SetRoles,
  loaded: Record<string, { resource: Resource<never>; by: string }>,
): readonly RestRoute[] {
  const path = `/${kind.toLowerCase()}s/:${target}/app-roles`
  const isInOrganization = kind === 'Membership' || kind === 'Group'
  return [
    defineRestRoute({
      ...(isInOrganization && {
        requireInOrganization: (ctx: Ctx, { params }: { params: Record<string, string> }) =>
          requireInOrganization(ctx, { scope: 'roles:read', members: true }, { ids: params, given: null }),
      }),
      method: 'GET',
      path,
      operationId: `get${kind}AppRoles`,
      summary: `The roles at APIs ${words}, by name.`,
      scope: 'roles:read',
      response: kind === 'Membership' ? HeldMemberAppRolesShape : HeldAppRolesShape,
      handle: async (ctx, { params }) => {
        const id = parseTargets([target], params as Record<string, string>)[target]
        const held = toHeldBody(ctx, await get(ctx, id))
        if (kind !== 'Membership') return held
        const [provided] = await findProvidedAppRoles(ctx.db, [id])
        return { ...held, providedAppRoles: provided?.providedAppRoles ?? [] }
      },
    }),
    ...defineMutation({
      name: `set${kind}AppRoles`,
      ...(isInOrganization && { inOrganization: ['appRoleIds'] }),
      summary: `Sets the roles at APIs ${words}.`,
      scope: 'roles:write',
      targets: [target],
      input: AppRoleSet,
      errors: [Conflict, NotFound],
      output: HELD,
      loaded: loaded as never,
      rest: {
        method: 'PUT',
        path,
        // As in GraphQL, null for callers without roles:read who do not manage the organization.
        response: SetAppRolesShape,
        toBody: (ctx, { appRoles }) =>
          ctx.scopes.has('roles:read') || getAdministeredId(ctx) !== null
            ? toHeldBody(ctx, appRoles as never)
            : { appRoles: null },
      },
      run: async (ctx, ids, input) => ({ appRoles: (await set(ctx, ids[target], input)) as never, ...ids }),
    }),
  ]
}

export const roleAssignmentOperations: readonly RestRoute[] = [
  ...defineAssignment(
    'User',
    'userId',
    'that a user holds directly; those of the management API are other ones',
    getUserAppRoles,
    setUserAppRoles,
    { user: { resource: USER as never, by: 'userId' } },
  ),
  ...defineAssignment(
    'Client',
    'clientId',
    'that a machine client holds, for the tokens on its own behalf',
    getClientAppRoles,
    setClientAppRoles,
    { client: { resource: CLIENT as never, by: 'clientId' } },
  ),
  ...defineAssignment(
    'Membership',
    'membershipId',
    'that a member holds in the organization',
    getMembershipAppRoles,
    setMembershipAppRoles,
    {},
  ),
  ...defineAssignment(
    'Group',
    'groupId',
    'that a group gives its members',
    getGroupAppRoles,
    setGroupAppRoles,
    {},
  ),
]
