import type * as z from 'zod'
import type { Ctx } from '../context/context.ts'
import { builder, type InputFields } from '../graphql/builder.ts'
import { connectionField, PAGE_ARGS } from '../graphql/connection.ts'
import { withScope } from '../graphql/field-access.ts'
import { nullIfNotFound } from '../graphql/node.graphql.ts'
import { buildInputFields } from '../graphql/shape-fields.ts'
import type { RestRoute } from '../rest/route.ts'
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
 * Declares the lookup of one object: the query `field`, which is null for an object that does not exist, and the route,
 * which answers with 404.
 */
export function defineLookup<Row>({
  name,
  field,
  summary,
  resource,
  target,
  path,
  run,
}: Declared & {
  /** The query; absent where the object is read by `node` or by a field of another. */
  field?: string
  resource: Resource<Row>
  target: Target
  path: string
  run: (ctx: Ctx, id: string) => Promise<Row>
}): readonly RestRoute[] {
  const { scope, ref, shape, toBody } = resource
  if (field !== undefined)
    builder.queryField(field, (t) =>
      t.field({
        ...withScope(scope, summary),
        type: ref as never,
        nullable: true,
        args: { id: t.arg.id({ required: true, description: describeTarget(target) }) },
        resolve: (_root, { id }, { ctx }) => nullIfNotFound(run(ctx, readTarget(target, id, 'id'))) as never,
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
      handle: async (ctx, { params }) => toBody(ctx, await run(ctx, parseTargets([target], params)[target])),
    },
  ]
}

/** Declares a list of the tenant: the query with the name of the resource's list, and the route. */
export function defineList<Row>({
  name,
  summary,
  resource,
  filter,
  path,
  run,
}: Declared & {
  resource: Resource<Row>
  /** The filter; an input type of GraphQL and parameters of REST. */
  filter?: z.ZodObject
  path: string
  run: (ctx: Ctx, args: PageArgs & { filter?: unknown }) => Promise<Page<Row>>
}): readonly RestRoute[] {
  const { members, scope, shape, toBody } = resource
  const Filter =
    filter &&
    builder.inputType(`${capitalize(resource.member)}Filter`, {
      description: `Only ${members} that match all members.`,
      fields: (t: InputFields) => buildInputFields(t, filter.shape),
    })
  builder.queryField(members, (t) =>
    t.field({
      ...withScope(scope, summary),
      ...connectionField(resource.getConnection() as never),
      args: { ...PAGE_ARGS, ...(Filter && { filter: t.arg({ type: Filter, description: 'The filter.' }) }) },
      resolve: (_root, args, { ctx }) => run(ctx, args) as never,
    }),
  )
  return [
    {
      method: 'GET',
      path,
      operationId: name,
      summary,
      scope,
      ...(filter && { filter }),
      paged: true,
      response: createListShape(members, shape),
      handle: async (ctx, { paging, filter: given }) =>
        toPageEnvelope(ctx, await run(ctx, { ...paging, ...(filter && { filter: given }) }), members, (row) =>
          toBody(ctx, row),
        ),
    },
  ]
}
