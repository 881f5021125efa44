import type { Ctx } from '../context/context.ts'
import { builder } from '../graphql/builder.ts'
import { withScope } from '../graphql/field-access.ts'
import { nullIfNotFound } from '../graphql/node.graphql.ts'
import type { RestRoute } from '../rest/route.ts'
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
