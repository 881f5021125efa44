import type { Ctx } from '../context/context.ts'
import { NotFound } from '../core/errors.ts'
import { isScope, listRoles, ROLES, SCOPES, type Scope } from '../core/scopes.ts'
import { builder } from '../graphql/builder.ts'
import { withScope } from '../graphql/field-access.ts'
import { toObjectType } from '../graphql/shape-fields.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { RoleDefinitions, RoleSet } from './roles.fields.ts'
import { setUserRoles } from './roles.ts'
import { USER } from './users.operations.ts'
import { getUser } from './users.ts'

const DEFINITIONS = {
  summary: 'The roles that users can have, with the management scopes that each permits.',
  scope: 'users:read',
} as const

const describeScopes = (scopes: readonly Scope[]) =>
  scopes.map((scope) => ({ scope, description: SCOPES[scope] }))

/** The built-in roles, and those that the tenant has defined, by name: one statement. */
async function defineRoles({ tenant, db }: Ctx) {
  const defined = await db.prisma.managementRole.findMany({
    where: { tenantId: tenant },
    orderBy: { name: 'asc' },
  })
  return [
    ...listRoles(tenant).map((role) => ({ role: role as string, scopes: describeScopes(ROLES[role]) })),
    ...defined.map(({ name, scopes }) => ({ role: name, scopes: describeScopes(scopes.filter(isScope)) })),
  ]
}

// A list without pages: there are few roles.
builder.queryField('roles', (t) =>
  t.field({
    ...withScope(DEFINITIONS.scope, DEFINITIONS.summary),
    type: [
      toObjectType<Awaited<ReturnType<typeof defineRoles>>[number]>(RoleDefinitions.shape.roles.element),
    ],
    nullable: true,
    resolve: (_root, _args, { ctx }) => defineRoles(ctx),
  }),
)

export const roleOperations: readonly RestRoute[] = [
  defineRestRoute({
    ...DEFINITIONS,
    method: 'GET',
    path: '/roles',
    operationId: 'getRoles',
    response: RoleDefinitions,
    handle: async (ctx) => ({ roles: await defineRoles(ctx) }),
  }),
  // GraphQL has the field User.roles.
  defineRestRoute({
    method: 'GET',
    path: '/users/:userId/roles',
    operationId: 'getUserRoles',
    summary: 'The roles of a user, which determine the management scopes that the user can get.',
    scope: 'users:read',
    response: RoleSet,
    handle: async (ctx, { params }) => ({ roles: (await getUser(ctx, params.userId)).roles }),
  }),
  ...defineMutation({
    name: 'setUserRoles',
    summary: 'Sets the roles of a user. Callers can only grant or remove scopes that they have.',
    scope: 'users:write',
    targets: ['userId'],
    input: RoleSet,
    errors: [NotFound],
    output: { user: USER },
    rest: {
      method: 'PUT',
      path: '/users/:userId/roles',
      response: RoleSet,
      toBody: (_ctx, { user }) => ({ roles: user.roles }),
    },
    run: async (ctx, { userId }, input) => ({ user: await setUserRoles(ctx, userId, input) }),
  }),
]
