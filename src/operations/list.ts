import type { GraphQLResolveInfo } from 'graphql'
import type * as z from 'zod'
import type { Ctx } from '../context/context.ts'
import { builder, type InputFields } from '../graphql/builder.ts'
import { connectionField, PAGE_ARGS } from '../graphql/connection.ts'
import type { GraphQLContext } from '../graphql/context.ts'
import { withScope, withScopeOrAdministrator } from '../graphql/field-access.ts'
import { buildNodeQuery, getNodeFields } from '../graphql/node-selection.ts'
import { buildInputFields, getEnumType, registerType } from '../graphql/shape-fields.ts'
import type { RestRequest, RestRoute } from '../rest/route.ts'
import { direction } from '../schema/input-shapes.ts'
import { directionShape, type Order } from '../schema/lists.ts'
import { type ListArgs, type Page, type PageArgs, toPageEnvelope } from '../schema/page.ts'
import { createListShape } from '../schema/response-shapes.ts'
import { getShapeDescription } from '../schema/schema-descriptions.ts'
import { requireInOrganization } from './in-organization.ts'
import type { Declared } from './query.ts'
import { capitalize, type Resource } from './resource.ts'
import { parseTargets, type Target } from './targets.ts'

/** What `defineFilter` returns. */
type ListFilter = { shape: z.ZodObject }

const createListRoute = <Row>(
  { name, summary, path }: Declared & { path: string },
  { members, scope, shape, toBody, isByCursor }: Resource<Row>,
  readPage: (ctx: Ctx, request: RestRequest) => Promise<Page<Row>>,
): RestRoute => ({
  method: 'GET',
  path,
  operationId: name,
  summary,
  scope,
  paged: isByCursor ? 'by-cursor' : true,
  response: createListShape(members, shape, isByCursor),
  handle: async (ctx, request) =>
    toPageEnvelope(ctx, await readPage(ctx, request), members, (row) => toBody(ctx, row), isByCursor),
})

const defineFilterType = (typeName: string, members: string, { shape }: ListFilter) => {
  const name = `${typeName}Filter`
  const type = builder.inputType(name, {
    description: shape.meta()?.description ?? `Only ${members} that match all members.`,
    fields: (t: InputFields) => buildInputFields(t, shape.shape),
  })
  registerType(name, type)
  return type
}

const createDirectionOptions = () => ({
  type: getEnumType(direction),
  defaultValue: 'asc',
  description: getShapeDescription(directionShape),
})

/** `orderBy: {field, direction}`, where REST has `orderBy` and `direction`. */
const defineOrderType = (typeName: string, by: NonNullable<Order['by']>, { shape }: Order) =>
  builder.inputType(`${typeName}Order`, {
    description: by.description,
    fields: (t: InputFields) => ({
      field: t.field({ type: getEnumType(by.shape), description: getShapeDescription(shape.shape.orderBy) }),
      direction: t.field(createDirectionOptions()),
    }),
  })

/** The arguments of a list. An order in two directions only is the argument `direction`. */
const defineListArgs = ({ member, members }: Resource<never>, filter?: ListFilter, order?: Order) => ({
  ...PAGE_ARGS,
  ...builder.args((t) => ({
    ...(filter && {
      filter: t.field({
        type: defineFilterType(capitalize(member), members, filter),
        description: 'The filter.',
      }),
    }),
    ...(order?.by && {
      orderBy: t.field({
        type: defineOrderType(capitalize(member), order.by, order),
        description: 'The order.',
      }),
    }),
    ...(order && !order.by && { direction: t.field(createDirectionOptions()) }),
  })),
})

type GraphQLArgs = ListArgs & { orderBy?: { field?: unknown; direction?: unknown } | null }

/** The arguments of GraphQL as the service takes them. */
const toListArgs = ({ orderBy, ...args }: GraphQLArgs): ListArgs =>
  orderBy ? { ...args, orderBy: orderBy.field, direction: orderBy.direction } : args

/** The columns and relations that a query selects of the rows of a list. */
export type RowSelection = { fields: Iterable<string>; buildQuery: () => object }

/** Declares a list of the tenant: the query, and the route. */
export function defineList<Row>({
  name,
  summary,
  resource,
  field = resource.members,
  filter,
  order,
  path,
  model,
  getCountCost,
  inOrganization,
  run,
}: Declared & {
  resource: Resource<Row>
  /** The query; by default the name of the list in REST. */
  field?: string
  /** An input type of GraphQL, and parameters of REST. */
  filter?: ListFilter
  order?: Order
  path: string
  /** The model whose selected columns and relations `run` reads, where it reads these only. */
  model?: string
  /** The cost of totalSize, where it depends on the arguments. */
  getCountCost?: Parameters<typeof connectionField>[1]
  /** An administrator of an organization may read it with the filter `organizationId` of the organization. */
  inOrganization?: true
  run: (ctx: Ctx, args: ListArgs, selection?: RowSelection) => Promise<Page<Row>>
}): readonly RestRoute[] {
  const selectRows = (context: GraphQLContext, info: GraphQLResolveInfo): RowSelection | undefined =>
    model === undefined
      ? undefined
      : { fields: getNodeFields(info), buildQuery: () => buildNodeQuery(model, context, info) }
  const { scope } = resource
  const requireFilter = (ctx: Ctx, given: unknown) =>
    requireInOrganization(ctx, { scope, members: true }, { ids: {}, given })
  builder.queryField(field, (t) =>
    t.field({
      ...(inOrganization
        ? withScopeOrAdministrator(scope, summary, (ctx, args: ListArgs) => requireFilter(ctx, args.filter))
        : withScope(scope, summary)),
      ...connectionField(resource.getConnection() as never, getCountCost),
      args: defineListArgs(resource as never, filter, order),
      resolve: (_root, args, context, info) =>
        run(context.ctx, toListArgs(args as GraphQLArgs), selectRows(context, info)) as never,
    }),
  )
  return [
    {
      ...createListRoute({ name, summary, path }, resource, (ctx, { paging, query, filter: given }) =>
        run(ctx, { ...paging, ...query, ...(filter && { filter: given }) }),
      ),
      ...(inOrganization && { requireInOrganization: (ctx, request) => requireFilter(ctx, request.filter) }),
      ...(filter && { filter: filter.shape }),
      ...(order && { query: order.shape }),
    },
  ]
}

/** Declares the route of a list that GraphQL has as a field of the object with the id `target`. */
export const defineNestedList = <Row>({
  resource,
  target,
  inOrganization,
  run,
  ...declared
}: Declared & {
  resource: Resource<Row>
  target: Target
  /** An administrator of an organization may read those of what belongs to it; the field of GraphQL has a rule of its own. */
  inOrganization?: true
  path: string
  run: (ctx: Ctx, id: string, args: PageArgs) => Promise<Page<Row>>
}): readonly RestRoute[] => [
  {
    ...createListRoute(declared, resource, (ctx, { params, paging }) =>
      run(ctx, parseTargets([target], params)[target], paging),
    ),
    ...(inOrganization && {
      requireInOrganization: (ctx, { params }) =>
        requireInOrganization(ctx, { scope: resource.scope, members: true }, { ids: params, given: null }),
    }),
  },
]
