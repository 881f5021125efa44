import type * as z from 'zod'
import type { Ctx } from '../context/context.ts'
import { builder, type InputFields } from '../graphql/builder.ts'
import { connectionField, PAGE_ARGS } from '../graphql/connection.ts'
import { withScope } from '../graphql/field-access.ts'
import { nullIfNotFound } from '../graphql/node.graphql.ts'
import { buildInputFields } from '../graphql/shape-fields.ts'
import type { RestRequest, RestRoute } from '../rest/route.ts'
import { type Page, type PageArgs, toPageEnvelope } from '../schema/page.ts'
import { createListShape } from '../schema/response-shapes.ts'
import { capitalize, type Resource } from './resource.ts'
import { describeTarget, parseTargets, readTarget, type Target } from './targets.ts'

type Declared = {
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
  run,
}: Declared & {
  /** The query; absent where the object is read by `node` or by a field of another. */
  field?: string
  resource: Resource<Row>
  target: Target | readonly Target[]
  path: string
  errors?: readonly 409[]
  run: (ctx: Ctx, ...ids: string[]) => Promise<Row>
}): readonly RestRoute[] {
  const { scope, ref, shape, toBody } = resource
  const targets = [target].flat() as Target[]
  const toArgument = (name: Target) => (targets.length === 1 ? 'id' : name)
  if (field !== undefined)
    builder.queryField(field, (t) =>
      t.field({
        ...withScope(scope, `${summary} Null when there is none.`),
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
      handle: async (ctx, { params }) =>
        toBody(ctx, await run(ctx, ...Object.values(parseTargets(targets, params)))),
    },
  ]
}

const createListRoute = <Row>(
  { name, summary, path }: Declared & { path: string },
  { members, scope, shape, toBody }: Resource<Row>,
  readPage: (ctx: Ctx, request: RestRequest) => Promise<Page<Row>>,
): RestRoute => ({
  method: 'GET',
  path,
  operationId: name,
  summary,
  scope,
  paged: true,
  response: createListShape(members, shape),
  handle: async (ctx, request) =>
    toPageEnvelope(ctx, await readPage(ctx, request), members, (row) => toBody(ctx, row)),
})

/** Declares a list of the tenant: the query, and the route. */
export function defineList<Row>({
  name,
  summary,
  resource,
  field = resource.members,
  filter,
  path,
  run,
}: Declared & {
  resource: Resource<Row>
  /** The query; by default the name of the list in REST. */
  field?: string
  /** The filter; an input type of GraphQL and parameters of REST. */
  filter?: z.ZodObject
  path: string
  run: (ctx: Ctx, args: PageArgs & { filter?: unknown }) => Promise<Page<Row>>
}): readonly RestRoute[] {
  const { members, scope } = resource
  const Filter =
    filter &&
    builder.inputType(`${capitalize(resource.member)}Filter`, {
      description: `Only ${members} that match all members.`,
      fields: (t: InputFields) => buildInputFields(t, filter.shape),
    })
  builder.queryField(field, (t) =>
    t.field({
      ...withScope(scope, summary),
      ...connectionField(resource.getConnection() as never),
      args: { ...PAGE_ARGS, ...(Filter && { filter: t.arg({ type: Filter, description: 'The filter.' }) }) },
      resolve: (_root, args, { ctx }) => run(ctx, args) as never,
    }),
  )
  return [
    {
      ...createListRoute({ name, summary, path }, resource, (ctx, { paging, filter: given }) =>
        run(ctx, { ...paging, ...(filter && { filter: given }) }),
      ),
      ...(filter && { filter }),
    },
  ]
}

/** Declares the route of a list that GraphQL has as a field of the object with the id `target`. */
export const defineNestedList = <Row>({
  resource,
  target,
  run,
  ...declared
}: Declared & {
  resource: Resource<Row>
  target: Target
  path: string
  run: (ctx: Ctx, id: string, args: PageArgs) => Promise<Page<Row>>
}): readonly RestRoute[] => [
  createListRoute(declared, resource, (ctx, { params, paging }) =>
    run(ctx, parseTargets([target], params)[target], paging),
  ),
]
