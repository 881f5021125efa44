import type { ObjectRef } from '@pothos/core'
import type * as z from 'zod'
import type { Ctx } from '../context/context.ts'
import type { Scope } from '../core/scopes.ts'
import { builder, type GraphQLTypes } from '../graphql/builder.ts'
import { withAnyScope, withScope, withScopeOrAdministrator } from '../graphql/field-access.ts'
import { nullIfNotFound } from '../graphql/node.graphql.ts'
import { buildInputFields } from '../graphql/shape-fields.ts'
import type { RestRoute } from '../rest/route.ts'
import { requireInOrganization } from './in-organization.ts'
import type { Resource } from './resource.ts'
import { describeTarget, parseTargets, readTarget, type Target } from './targets.ts'

export type Declared = {
  /** The operationId of REST, and the name of the service's function. */
  name: string
  summary: string
}

/**
 * Declares the lookup of one object by its id, or by those of the objects that it connects: the query `field`, which is
 * null for an object that does not exist, and the route, which answers with 404.
 */
export function defineLookup<Row>({
  name,
  field,
  summary,
  resource,
  target,
  path,
  errors,
  inOrganization,
  run,
}: Declared & {
  /** The query; absent where the object is read by `node` or by a field of another. */
  field?: string
  resource: Resource<Row>
  target: Target | readonly Target[]
  path: string
  errors?: readonly 409[]
  /** An administrator of an organization may look up what belongs to it. */
  inOrganization?: true
  run: (ctx: Ctx, ...ids: string[]) => Promise<Row>
}): readonly RestRoute[] {
  const { scope, ref, shape, toBody } = resource
  const targets = [target].flat() as Target[]
  const toArgument = (name: Target) => (targets.length === 1 ? 'id' : name)
  const description = `${summary} Null when there is none.`
  const check = { scope, members: true } as const
  const access = inOrganization
    ? withScopeOrAdministrator(scope, description, (ctx, args: Record<string, string>) =>
        requireInOrganization(ctx, check, {
          ids: Object.fromEntries(targets.map((name) => [name, args[toArgument(name)] ?? ''])),
          given: null,
        }),
      )
    : withScope(scope, description)
  if (field !== undefined)
    builder.queryField(field, (t) =>
      t.field({
        ...access,
        type: ref as never,
        nullable: true,
        args: Object.fromEntries(
          targets.map((name) => [
            toArgument(name),
            t.arg.id({ required: true, description: describeTarget(name) }),
          ]),
        ),
        resolve: (_root, args, { ctx }) =>
          nullIfNotFound(
            run(
              ctx,
              ...targets.map((name) => readTarget(name, args[toArgument(name)] as string, toArgument(name))),
            ),
          ) as never,
      }),
    )
  return [
    {
      method: 'GET',
      path,
      operationId: name,
      summary,
      scope,
      response: shape,
      ...(errors && { errors }),
      ...(inOrganization && {
        requireInOrganization: (ctx, { params }) =>
          requireInOrganization(ctx, check, { ids: params, given: null }),
      }),
      handle: async (ctx, { params }) =>
        toBody(ctx, await run(ctx, ...Object.values(parseTargets(targets, params)))),
    },
  ]
}

type Shapes = Record<string, z.ZodType>

/** Declares an object that is computed from its arguments: the query, and the route. */
export function defineComputation<Row extends object>({
  name,
  summary,
  scopes: [scope, ...otherScopes],
  args,
  ref,
  cost,
  response,
  toBody,
  path,
  run,
}: Declared & {
  /** The scopes of which one is required. */
  scopes: readonly [Scope, ...Scope[]]
  /** The arguments of GraphQL and the parameters of REST, which the service validates. */
  args: z.ZodObject
  ref: ObjectRef<GraphQLTypes, Row>
  /** What the field costs, in fields. */
  cost: number
  response: z.ZodObject
  toBody: (ctx: Ctx, row: Row) => object
  path: string
  run: (ctx: Ctx, given: unknown) => Promise<Row>
}): readonly RestRoute[] {
  builder.queryField(name, (t) =>
    t.field({
      ...withAnyScope([scope, ...otherScopes], summary),
      type: ref as never,
      nullable: true,
      complexity: cost,
      args: builder.args((t) => buildInputFields(t as never, args.shape as Shapes)) as never,
      resolve: (_root, given, { ctx }) => run(ctx, given) as never,
    }),
  )
  return [
    {
      method: 'GET',
      path,
      operationId: name,
      summary,
      scope,
      otherScopes,
      query: args,
      response,
      handle: async (ctx, { query }) => toBody(ctx, await run(ctx, query)),
    },
  ]
}

/** Declares a list without pages, whose items are computed from its arguments: the query, and the route. */
export function defineComputedList<Row extends object>({
  name,
  field = name,
  summary,
  scopes: [scope, ...otherScopes],
  args,
  members,
  ref,
  countItems,
  response,
  toBody = (_ctx, row) => row,
  path,
  run,
}: Declared & {
  /** The query; by default of the name of the operation. */
  field?: string
  /** The scopes of which one is required. */
  scopes: readonly [Scope, ...Scope[]]
  /** The arguments of GraphQL and the parameters of REST, which the service validates. */
  args: z.ZodObject
  /** The name of the list in REST. */
  members: string
  ref: ObjectRef<GraphQLTypes, Row>
  /** The number of items at most, for the cost of the query. */
  countItems: (given: object) => number
  response: z.ZodObject
  toBody?: (ctx: Ctx, row: Row) => object
  path: string
  run: (ctx: Ctx, given: unknown) => Promise<Row[]>
}): readonly RestRoute[] {
  builder.queryField(field, (t) =>
    t.field({
      ...withAnyScope([scope, ...otherScopes], summary),
      type: [ref] as never,
      nullable: true,
      complexity: (given) => ({ field: 1, multiplier: countItems(given) }),
      args: builder.args((t) => buildInputFields(t as never, args.shape as Shapes)) as never,
      resolve: (_root, given, { ctx }) => run(ctx, given) as never,
    }),
  )
  return [
    {
      method: 'GET',
      path,
      operationId: name,
      summary,
      scope,
      otherScopes,
      query: args,
      response,
      handle: async (ctx, { query }) => ({
        [members]: (await run(ctx, query)).map((row) => toBody(ctx, row)),
      }),
    },
  ]
}
