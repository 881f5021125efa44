import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import ErrorsPlugin from '@pothos/plugin-errors'
import PrismaPlugin from '@pothos/plugin-prisma'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import { getNamedType, isLeafType, isListType, isNonNullType } from 'graphql'
import { env } from '../core/env.ts'
import type { Scope } from '../core/scopes.ts'
import type PrismaTypes from '../generated/pothos.ts'
import { getDatamodel } from '../generated/pothos.ts'
import { createScopeError, type GraphQLContext } from './context.ts'
import { translateErrors } from './error-translation.ts'
import { listMissingScopes } from './field-access.ts'
import type { FormatScalarName } from './format-scalars.ts'
import { ownFields } from './own-fields.ts'

/**
 * How a domain file (such as users.graphql.ts) declares its types; src/server/graphql-schema.ts imports each
 * file once:
 *
 *     // An object. Its rule is checked once per object: in `node`, nested lists and event payloads.
 *     export const UserRef = builder.prismaObject('User', {
 *       ...withScopeOrOwner('users:read', 'A user of the tenant.', (user) => user.id, 'openid'),
 *       interfaces: [Node],
 *       fields: (t) => ({
 *         id: t.exposeID('id', { description: ID_DESCRIPTION }),
 *         name: t.exposeString('name', { nullable: true }), // description: the `///` of schema.prisma
 *         createdAt: t.expose('createdAt', { type: 'DateTime' }),
 *         sessions: t.field({ // a nested list: part of the parent's statement
 *           ...withScopeOrOwner('sessions:read', 'Active sessions.', (user) => user.id),
 *           ...nestedConnectionField(SessionConnection),
 *           args: NESTED_PAGE_ARGS,
 *           select: (args, context, nested) => ({
 *             sessions: addNodeSelection(nested, 'Session',
 *               buildNestedQuery(args, context, 'User.sessions', where)) }),
 *           resolve: (user, args, context) =>
 *             toNestedPage(args, context, 'User.sessions', user.sessions, () => countSessions(…)),
 *         }),
 *       }),
 *     })
 *     registerNode('user', { ref: UserRef, scope: 'users:read',
 *       isOwn: (id, context) => isOwner(context, id, 'openid'),
 *       load: (id, context) => context.loaders.user.load(id) })
 *
 *     // A list: page and pageSize, or first/after/last/before. Resolves to the Page<Row> of the service.
 *     export const UserConnection = defineConnectionType('User', UserRef)
 *     builder.queryField('users', (t) => t.field({
 *       ...withScope('users:read', 'The users of the tenant.'),
 *       ...connectionField(UserConnection),
 *       args: { ...PAGE_ARGS, filter: t.arg({ type: UserFilter, description: '…' }) },
 *       resolve: (_root, args, context, info) =>
 *         listUsers(context.ctx, args, { query: buildNodeQuery('User', context, info) }),
 *     }))
 *
 *     // One object. Root fields are nullable, so that an error does not null their siblings.
 *     builder.queryField('user', (t) => t.field({
 *       ...withScope('users:read', 'One user.'),
 *       type: UserRef, nullable: true,
 *       args: { id: t.arg.id({ required: true, description: 'Id of the user.' }) },
 *       resolve: (_root, { id }, { ctx }) => nullIfNotFound(getUser(ctx, requireNodeId('user', id))),
 *     }))
 *
 * operations/mutation.ts declares mutations: their payload and the expected errors form a union such as LockUserResult, and
 * other errors are top-level errors.
 *
 * To read only the selected columns: `t.prismaField({ type: 'User', resolve: (query, …) => …{ ...query } })`.
 */
type BuilderTypes = {
  Context: GraphQLContext
  PrismaTypes: PrismaTypes
  DefaultFieldNullability: false
  AuthScopes: {
    /** The access token has this management scope. */
    scope: Scope
    /** The caller is authenticated. */
    caller: boolean
  }
  Scalars: {
    ID: { Input: string; Output: string }
    /** A date, or its RFC 3339 text. */
    DateTime: { Input: string; Output: Date | string }
    JSONObject: { Input: Record<string, unknown>; Output: unknown }
  } & { [Name in FormatScalarName]: { Input: string; Output: string } }
}

/** The types of the schema, for Pothos' generics. */
export type GraphQLTypes = PothosSchemaTypes.ExtendDefaultTypes<BuilderTypes>

/** The field builder of input types, for fields that several types share. */
export type InputFields = PothosSchemaTypes.InputFieldBuilder<GraphQLTypes, 'InputObject'>

const LIST_MULTIPLIER = 10

export const builder = new SchemaBuilder<BuilderTypes>({
  // The first plugin is outermost: authorization comes first, and errors are translated before the errors
  // plugin compares classes.
  plugins: [ScopeAuthPlugin, ownFields, ErrorsPlugin, translateErrors, PrismaPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  scopeAuth: {
    authorizeOnSubscribe: true,
    // Checked once per object instead of once per field, so that a missing scope causes one error.
    runScopesOnType: true,
    authScopes: (context) => ({
      scope: (scope) => context.ctx.scopes.has(scope),
      caller: context.ctx.actor.kind !== 'anonymous',
    }),
    unauthorizedError: (_parent, context, _info, { failure }) =>
      createScopeError(context, listMissingScopes(failure)),
  },
  errors: {
    directResult: true,
    defaultUnionOptions: {
      name: ({ fieldName }) => `${fieldName.charAt(0).toUpperCase()}${fieldName.slice(1)}Result`,
      description: 'The payload, or an expected error.',
    },
  },
  prisma: {
    client: ({ ctx }) => ctx.db.prisma as never,
    dmmf: getDatamodel(),
    exposeDescriptions: true,
    onUnusedQuery: env.isProduction ? null : 'error',
  },
  complexity: {
    // The cost of a field. operation-limits.ts limits the cost of the operation before it is executed.
    fieldComplexity: (_args, _context, field) => {
      if (isLeafType(getNamedType(field.type))) return 0
      const type = isNonNullType(field.type) ? field.type.ofType : field.type
      return { field: 1, multiplier: isListType(type) ? LIST_MULTIPLIER : 1 }
    },
  },
})

builder.queryType({ description: 'All reads.' })
builder.mutationType({
  description: 'All changes. Expected errors are members of the result unions.',
})
builder.subscriptionType({ description: 'Events of the tenant as they happen.' })
