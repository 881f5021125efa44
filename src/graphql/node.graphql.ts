import type { ObjectRef } from '@pothos/core'
import { ID_PREFIXES, type IdPrefix, prefixOf } from '../crypto.ts'
import type { Scope } from '../ctx.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { builder, type GraphQLTypes } from './builder.ts'
import { type GraphQLContext, refusalOf } from './context.ts'
import { open } from './scoped.ts'

/** How things of one kind are found by id. The slug of a tenant has no prefix: its kind is `tenant`. */
type NodeKind = {
  /** Name of the object type. */
  type: string
  scope: Scope
  isOwn: (id: string, context: GraphQLContext) => boolean
  load: (id: string, context: GraphQLContext) => Promise<object | null>
}

const kinds = new Map<IdPrefix | 'tenant', NodeKind>()
/** Which type a row that `node` found is of; rows carry no mark of their own. */
const typeOfRow = new WeakMap<object, string>()

/** The description of every `id` field. */
export const ID_DESCRIPTION = 'Globally unique id: the same here, in REST and in tokens.'

export const Node = builder.interfaceRef<object>('Node').implement({
  ...open('Anything with a globally unique id.'),
  fields: (t) => ({
    id: t.id({ description: ID_DESCRIPTION, resolve: (row) => (row as { id: string }).id }),
  }),
  resolveType: (row) => typeOfRow.get(row),
})

/**
 * Makes things of a kind findable by `node` and `nodes`. The scope is checked before the row is looked for, so that
 * a caller without it cannot tell what exists; `isOwn` lets people at their own.
 */
export function registerNode<Row extends object>(
  prefix: IdPrefix | 'tenant',
  kind: {
    ref: ObjectRef<GraphQLTypes, Row>
    scope: Scope
    isOwn?: (id: string, context: GraphQLContext) => boolean
    load: (id: string, context: GraphQLContext) => Promise<NoInfer<Row> | null>
  },
): void {
  kinds.set(prefix, {
    type: kind.ref.name,
    scope: kind.scope,
    isOwn: kind.isOwn ?? (() => false),
    load: kind.load,
  })
}

const SLUG = /^[a-z0-9](-?[a-z0-9])*$/

function kindOf(id: string, field: string): NodeKind | undefined {
  const prefix = prefixOf(id)
  if (prefix) return kinds.get(prefix)
  const looksLikeOurs = ID_PREFIXES.some((known) => id.startsWith(`${known}_`))
  if (looksLikeOurs || id.length > 63 || !SLUG.test(id))
    throw new InvalidInput([{ field, description: 'is not an id' }])
  return kinds.get('tenant')
}

async function findNode(id: string, field: string, context: GraphQLContext): Promise<object | null> {
  const kind = kindOf(id, field)
  if (!kind) return null
  if (!context.ctx.scopes.has(kind.scope) && !kind.isOwn(id, context)) throw refusalOf(context, [kind.scope])
  const row = await kind.load(id, context)
  if (row) typeOfRow.set(row, kind.type)
  return row
}

/** Checks that an argument is an id of the right kind; throws InvalidInput about `field` otherwise. Returns it. */
export function requireId(prefix: IdPrefix, id: string, field = 'id'): string {
  if (prefixOf(id) !== prefix)
    throw new InvalidInput([{ field, description: `is not an id that starts with ${prefix}_` }])
  return id
}

/** Null for what is not there, as root fields answer; `get*` services throw NotFound. */
export async function orNull<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found
  } catch (error) {
    if (error instanceof NotFound) return null
    throw error
  }
}

builder.queryField('node', (t) =>
  t.field({
    ...open('Anything by its id; null when it is not there. Requires the scope that the type names.'),
    type: Node,
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'Id of the thing; of a tenant, its slug.' }) },
    resolve: (_root, { id }, context) => findNode(id, 'id', context),
  }),
)

const MAX_NODES = 100

builder.queryField('nodes', (t) =>
  t.field({
    ...open(
      `Up to ${MAX_NODES} things by their ids, in that order; null in place of each that is not there.`,
    ),
    type: [Node],
    nullable: { list: true, items: true },
    complexity: ({ ids }) => ({ field: 1, multiplier: ids.length }),
    args: { ids: t.arg.idList({ required: true, description: 'Ids of the things.' }) },
    resolve: (_root, { ids }, context) => {
      if (ids.length > MAX_NODES)
        throw new InvalidInput([{ field: 'ids', description: `must have ${MAX_NODES} ids at most` }])
      return ids.map((id, index) => findNode(id, `ids.${index}`, context))
    },
  }),
)
