import type { ObjectRef } from '@pothos/core'
import { isNameOfClient, isUrlId } from '../clients/client-ids.ts'
import { type IdPrefix, prefixOf } from '../crypto.ts'
import type { Scope } from '../ctx.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { isIdpId } from '../idps/idps.fields.ts'
import { builder, type GraphQLTypes } from './builder.ts'
import { type GraphQLContext, refusalOf } from './context.ts'
import { open } from './scoped.ts'

/** Kinds whose ids have no prefix: the slug of a tenant, and what callers chose for an identity provider. */
type Unprefixed = 'tenant' | 'idp'

/** How things of one kind are found by id. */
type NodeKind = {
  /** Name of the object type. */
  type: string
  scope: Scope
  isOwn: (id: string, context: GraphQLContext) => boolean
  load: (id: string, context: GraphQLContext) => Promise<object | null>
}

const kinds = new Map<IdPrefix | Unprefixed, NodeKind>()
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
  prefix: IdPrefix | Unprefixed,
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

function kindOf(id: string, field: string, { ctx }: GraphQLContext): NodeKind | undefined {
  const prefix = prefixOf(id)
  if (prefix) return kinds.get(prefix)
  // No provider of a tenant has the tenant's name.
  if (id === ctx.tenant) return kinds.get('tenant')
  if (isUrlId(id)) return kinds.get('client')
  if (!isIdpId(id)) throw new InvalidInput([{ field, description: 'is not an id' }])
  return kinds.get('idp')
}

async function findNode(id: string, field: string, context: GraphQLContext): Promise<object | null> {
  const kind = kindOf(id, field, context)
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

/** The same for a client, whose id may be the URL of its metadata document. */
export function requireClientId(id: string, field: string): string {
  if (!isNameOfClient(id))
    throw new InvalidInput([{ field, description: 'is not an id that starts with client_, or a URL' }])
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
    args: { id: t.arg.id({ required: true, description: 'Id of the thing; of the tenant, its slug.' }) },
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
