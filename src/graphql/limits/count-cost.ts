import {
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'

/**
 * The cost of `totalSize`, by what it does: it sends a statement of its own. The cost of a field cannot
 * depend on the arguments of its parent in Pothos, so that counts are added here.
 */
export const COUNT_COST = {
  /** Reads all matching rows of a table or an index, up to the statement timeout of lists. */
  scan: 1000,
  /** Reads the rows of one parent. */
  nested: 10,
  /** Reads sums that a trigger maintains. */
  sum: 10,
} as const

/** What the complexity of a list's field returns; see connectionField. */
export type ListComplexity = { field: number; multiplier: number; count: number }

type Document = {
  schema: GraphQLSchema
  operation: OperationDefinitionNode
  fragments: Record<string, FragmentDefinitionNode>
  variables: Record<string, unknown>
}
/** `cost` of the counts of lists below, and the number of selections of totalSize itself. */
type Counted = { cost: number; totals: number }

const readComplexity = (field: GraphQLField<unknown, unknown>, node: SelectionNode, document: Document) => {
  const { complexity } = field.extensions
  if (node.kind !== Kind.FIELD || typeof complexity !== 'function') return complexity
  // Pothos' default reads the field.
  return complexity(getArgumentValues(field, node, document.variables), {}, field)
}

/**
 * The cost of all `totalSize` of an operation, which must be valid. Each fragment is visited once per type.
 */
export function computeCountCost(document: Document): number {
  const visited = new Map<SelectionSetNode, Map<string, Counted>>()

  function countSelections(set: SelectionSetNode | undefined, type: GraphQLNamedType | undefined): Counted {
    if (!set || !type) return { cost: 0, totals: 0 }
    const byType = visited.get(set) ?? new Map<string, Counted>()
    visited.set(set, byType)
    const known = byType.get(type.name)
    if (known) return known
    const sum = { cost: 0, totals: 0 }
    for (const node of set.selections) {
      const counted = countSelection(node, type)
      sum.cost += counted.cost
      sum.totals += counted.totals
    }
    byType.set(type.name, sum)
    return sum
  }

  function countSelection(node: SelectionNode, type: GraphQLNamedType): Counted {
    if (node.kind !== Kind.FIELD) {
      const fragment = node.kind === Kind.FRAGMENT_SPREAD ? document.fragments[node.name.value] : node
      const condition = fragment?.typeCondition?.name.value
      return countSelections(fragment?.selectionSet, condition ? document.schema.getType(condition) : type)
    }
    if (node.name.value === 'totalSize') return { cost: 0, totals: 1 }
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined
    if (!field || !node.selectionSet) return { cost: 0, totals: 0 }
    const inner = countSelections(node.selectionSet, getNamedType(field.type))
    if (inner.cost === 0 && inner.totals === 0) return inner
    const { multiplier = 1, count = 0 }: Partial<ListComplexity> = readComplexity(field, node, document) ?? {}
    return { cost: inner.cost * Math.max(multiplier, 0) + inner.totals * count, totals: 0 }
  }

  const root = document.schema.getRootType(document.operation.operation)
  return countSelections(document.operation.selectionSet, root ?? undefined).cost
}
