import type { ObjectRef } from '@pothos/core'
import { isClientIdSyntax, isUrlClientId } from '../access/client-ids.ts'
import { type IdPrefix, readIdPrefix } from '../core/crypto.ts'
import { InvalidInput, NotFound } from '../core/errors.ts'
import type { Scope } from '../core/scopes.ts'
import { isIdpId } from '../schema/idp-id.ts'
import { builder, type GraphQLTypes } from './builder.ts'
import { createScopeError, type GraphQLContext } from './context.ts'
import { withPublicAccess } from './field-access.ts'

/**
 * Kinds whose ids have no prefix: a tenant is identified by its slug, an identity provider by an id that its
 * creator chose.
 */
type UnprefixedKind = 'tenant' | 'idp'

/** Kinds whose ids are made of what identifies their rows. */
const COMPOSED_KINDS = ['consent', 'key'] as const
type ComposedKind = (typeof COMPOSED_KINDS)[number]

/** No other id has it after one of these words. */
const SEPARATOR = '~'

/** The id of an object of GraphQL that is identified by other ids. */
export const composeId = (kind: ComposedKind, ...parts: string[]): string => [kind, ...parts].join(SEPARATOR)

/** The parts of such an id; the last one may contain the separator. */
export function readComposedId(id: string, count: number): string[] {
  const [, ...parts] = id.split(SEPARATOR)
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join(SEPARATOR)]
}

/** How objects of one kind are found by id. */
type NodeKind = {
  /** Name of the object type. */
  type: string
  scope: Scope
  isOwn: (id: string, context: GraphQLContext) => boolean
  load: (id: string, context: GraphQLContext) => Promise<object | null>
}

export type Kind = IdPrefix | UnprefixedKind | ComposedKind

const nodeKinds = new Map<Kind, NodeKind>()
/** The type names of rows that `node` has found: rows do not have their type. */
const typeNameByRow = new WeakMap<object, string>()

/** The description of every `id` field. */
export const ID_DESCRIPTION = 'Globally unique id; the same in GraphQL, REST and tokens.'

export const Node = builder.interfaceRef<object>('Node').implement({
  ...withPublicAccess('An object with a globally unique id.'),
  fields: (t) => ({
    id: t.id({ description: ID_DESCRIPTION, resolve: (row) => (row as { id: string }).id }),
  }),
  resolveType: (row) => typeNameByRow.get(row),
})

/**
 * Registers a kind of objects for `node` and `nodes`. The scope is checked before the row is loaded, so that
 * a caller without it cannot find out which ids exist; ids of `isOwn` do not require the scope.
 */
export function registerNode<Row extends object>(
  prefix: Kind,
  kind: {
    ref: ObjectRef<GraphQLTypes, Row>
    scope: Scope
    isOwn?: (id: string, context: GraphQLContext) => boolean
    load: (id: string, context: GraphQLContext) => Promise<NoInfer<Row> | null>
  },
): void {
  nodeKinds.set(prefix, {
    type: kind.ref.name,
    scope: kind.scope,
    isOwn: kind.isOwn ?? (() => false),
    load: kind.load,
  })
}

function findNodeKind(id: string, field: string, { ctx }: GraphQLContext): NodeKind | undefined {
  const prefix = readIdPrefix(id)
  if (prefix) return nodeKinds.get(prefix)
  const composed = COMPOSED_KINDS.find((kind) => id.startsWith(`${kind}${SEPARATOR}`))
  if (composed) return nodeKinds.get(composed)
  // An identity provider cannot have the slug of its tenant as its id.
  if (id === ctx.tenant) return nodeKinds.get('tenant')
  if (isUrlClientId(id)) return nodeKinds.get('client')
  if (!isIdpId(id)) throw new InvalidInput([{ field, description: 'is not an id' }])
  return nodeKinds.get('idp')
}

async function findNode(id: string, field: string, context: GraphQLContext): Promise<object | null> {
  const kind = findNodeKind(id, field, context)
  return kind ? loadNode(kind, id, context) : null
}

/** The object of a kind; null when it does not exist. Throws Forbidden without the scope of the kind. */
export const findNodeOf = (kind: Kind, id: string, context: GraphQLContext): Promise<object | null> =>
  loadNode(nodeKinds.get(kind) as NodeKind, id, context)

async function loadNode(kind: NodeKind, id: string, context: GraphQLContext): Promise<object | null> {
  if (!context.ctx.scopes.has(kind.scope) && !kind.isOwn(id, context))
    throw createScopeError(context, [kind.scope])
  const row = await kind.load(id, context)
  if (row) typeNameByRow.set(row, kind.type)
  return row
}

/** Requires an id with the prefix and returns it. Throws InvalidInput about `field`. */
export function requireNodeId(prefix: IdPrefix, id: string, field = 'id'): string {
  if (readIdPrefix(id) !== prefix)
    throw new InvalidInput([{ field, description: `is not an id that starts with ${prefix}_` }])
  return id
}

/**
 * Requires the id of a client, which may be the URL of its metadata document. Throws InvalidInput about
 * `field`.
 */
export function requireClientId(id: string, field: string): string {
  if (!isClientIdSyntax(id))
    throw new InvalidInput([{ field, description: 'is not an id that starts with client_, or a URL' }])
  return id
}

/** Requires an id that an identity provider can have. Throws InvalidInput about `field`. */
export function requireIdpId(id: string, field: string): string {
  if (!isIdpId(id)) throw new InvalidInput([{ field, description: 'is not the id of an identity provider' }])
  return id
}

/** Converts NotFound to null, which root fields return for a missing object. */
export async function nullIfNotFound<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found
  } catch (error) {
    if (error instanceof NotFound) return null
    throw error
  }
}

builder.queryField('node', (t) =>
  t.field({
    ...withPublicAccess('An object by its id; null when it does not exist. Requires the scope of its type.'),
    type: Node,
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'Id of the object; for a tenant, its slug.' }) },
    resolve: (_root, { id }, context) => findNode(id, 'id', context),
  }),
)

const MAX_NODES = 100

builder.queryField('nodes', (t) =>
  t.field({
    ...withPublicAccess(
      `Up to ${MAX_NODES} objects by their ids, in that order; null for each that does not exist.`,
    ),
    type: [Node],
    nullable: { list: true, items: true },
    complexity: ({ ids }) => ({ field: 1, multiplier: ids.length }),
    args: { ids: t.arg.idList({ required: true, description: 'Ids of the objects.' }) },
    resolve: (_root, { ids }, context) => {
      if (ids.length > MAX_NODES)
        throw new InvalidInput([{ field: 'ids', description: `must have at most ${MAX_NODES} ids` }])
      return ids.map((id, index) => findNode(id, `ids.${index}`, context))
    },
  }),
)
