import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import ErrorsPlugin from '@pothos/plugin-errors'
import PrismaPlugin from '@pothos/plugin-prisma'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import { getNamedType, isLeafType, isListType, isNonNullType } from 'graphql'
import type { Scope } from '../ctx.ts'
import { dbFor } from '../db.ts'
import { env } from '../env.ts'
import type PrismaTypes from '../generated/pothos.ts'
import { getDatamodel } from '../generated/pothos.ts'
import { type GraphQLContext, refusalOf } from './context.ts'
import { translateErrors } from './error-translation.ts'
import { missingScopes } from './scoped.ts'

/**
 * How a domain file declares its part (users.graphql.ts and the like; schema.ts imports each once):
 *
 *     // An object. Its rule is checked once per object, wherever it turns up: `node`, nested lists, event payloads.
 *     export const UserRef = builder.prismaObject('User', {
 *       ...scopedOrOwn('users:read', 'A person who can sign in to the tenant.', (user) => user.id),
 *       interfaces: [Node],
 *       fields: (t) => ({
 *         id: t.exposeID('id', { description: ID_DESCRIPTION }),
 *         name: t.exposeString('name', { nullable: true }), // description: the `///` of schema.prisma
 *         createdAt: t.expose('createdAt', { type: 'DateTime' }),
 *         sessions: t.field({ // nested list: part of the parent's statement
 *           ...scopedOrOwn('sessions:read', 'Active sessions.', (user) => user.id),
 *           ...listOf(SessionConnection),
 *           args: NESTED_PAGE_ARGS,
 *           select: (args, context, nested) => ({
 *             sessions: withNodes(nested, 'Session', nestedQuery(args, context, 'User.sessions', activeSessions())) }),
 *           resolve: (user, args, context) =>
 *             nestedPage(args, context, 'User.sessions', user.sessions, () => countSessions(context.ctx, user.id)),
 *         }),
 *       }),
 *     })
 *     registerNode('user', { ref: UserRef, scope: 'users:read', isOwn: (id, context) => id === ownUserId(context),
 *       load: (id, context) => context.loaders.user.load(id) })
 *
 *     // A list: page and pageSize, or first/after/last/before; out of the Page<Row> that the service returns.
 *     export const UserConnection = connectionType('User', UserRef)
 *     builder.queryField('users', (t) => t.field({
 *       ...scoped('users:read', 'The users of the tenant.'),
 *       ...listOf(UserConnection),
 *       args: { ...PAGE_ARGS, filter: t.arg({ type: UserFilter, description: '…' }) },
 *       resolve: (_root, args, context, info) => listUsers(context.ctx, args, { query: nodeQuery('User', context, info) }),
 *     }))
 *
 *     // One of them. Root fields are nullable: a failed one must not null its siblings.
 *     builder.queryField('user', (t) => t.field({
 *       ...scoped('users:read', 'One user.'),
 *       type: UserRef, nullable: true,
 *       args: { id: t.arg.id({ required: true, description: 'Id of the user.' }) },
 *       resolve: (_root, { id }, { ctx }) => orNull(getUser(ctx, requireId('user', id))),
 *     }))
 *
 *     // A mutation: the payload and the expected errors form the union LockUserResult; all else is a top-level error.
 *     builder.mutationField('lockUser', (t) => t.field({
 *       ...scoped('users:write', 'Locks a user and ends all of their sessions.'),
 *       ...resultOf(NotFound, Conflict), // classes of errors.ts: each is mapped to its type of errors.graphql.ts
 *       type: UserPayload,
 *       args: { input: t.arg({ type: LockUserInput, required: true, description: '…' }) },
 *       resolve: async (_root, { input }, { ctx }) => ({ user: await lockUser(ctx, input.userId) }),
 *     }))
 *
 * Reading with the columns that were asked for: `t.prismaField({ type: 'User', resolve: (query, …) => …{ ...query } })`.
 */
type OurTypes = {
  Context: GraphQLContext
  PrismaTypes: PrismaTypes
  DefaultFieldNullability: false
  AuthScopes: {
    /** The caller's token carries this management scope. */
    scope: Scope
    /** An access token was sent, with whatever scopes. */
    caller: boolean
  }
  Scalars: {
    ID: { Input: string; Output: string }
    DateTime: { Input: string; Output: Date }
    JSONObject: { Input: Record<string, unknown>; Output: unknown }
  }
}

/** The types of our schema, as Pothos' own generics want them. */
export type GraphQLTypes = PothosSchemaTypes.ExtendDefaultTypes<OurTypes>

/** What fields of an input type are made with, for those that several types have. */
export type InputFields = PothosSchemaTypes.InputFieldBuilder<GraphQLTypes, 'InputObject'>

const LIST_MULTIPLIER = 10

export const builder = new SchemaBuilder<OurTypes>({
  // The first is outermost: rules are checked before anything runs, and what is thrown is translated before the
  // errors plugin compares classes.
  plugins: [ScopeAuthPlugin, ErrorsPlugin, translateErrors, PrismaPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  scopeAuth: {
    authorizeOnSubscribe: true,
    // Once per object instead of once per field, which also makes a refusal one error.
    runScopesOnType: true,
    authScopes: (context) => ({
      scope: (scope) => context.ctx.scopes.has(scope),
      caller: context.ctx.actor.kind !== 'anonymous',
    }),
    unauthorizedError: (_parent, context, _info, { failure }) => refusalOf(context, missingScopes(failure)),
  },
  errors: {
    directResult: true,
    defaultUnionOptions: {
      name: ({ fieldName }) => `${fieldName.charAt(0).toUpperCase()}${fieldName.slice(1)}Result`,
      description: 'The payload, or the reason why there is none.',
    },
  },
  prisma: {
    client: ({ ctx }) => dbFor(ctx.tenant) as never,
    dmmf: getDatamodel(),
    exposeDescriptions: true,
    onUnusedQuery: env.isProduction ? null : 'error',
  },
  complexity: {
    // What is limited is the whole operation, before it runs (limits.ts); here is only what each field costs.
    fieldComplexity: (_args, _context, field) => {
      if (isLeafType(getNamedType(field.type))) return 0
      const type = isNonNullType(field.type) ? field.type.ofType : field.type
      return { field: 1, multiplier: isListType(type) ? LIST_MULTIPLIER : 1 }
    },
  },
})

builder.queryType({ description: 'What can be read.' })
builder.mutationType({
  description: 'What can be changed. Expected failures are members of the result unions.',
})
builder.subscriptionType({ description: "What happens, as it happens: the tenant's event log, followed." })
