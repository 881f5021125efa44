import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type SelectionSetNode,
} from 'graphql'

/** The fragments of a document, by name. */
export type Fragments = Record<string, FragmentDefinitionNode>

/** The document that is compiled. */
export type Source = { schema: GraphQLSchema; fragments: Fragments }

function matchesType({ schema }: Source, condition: string | undefined, type: GraphQLObjectType): boolean {
  if (condition === undefined || condition === type.name) return true
  const named = schema.getType(condition)
  return isAbstractType(named) && schema.isSubType(named, type)
}

/**
 * The fields that are selected of an object type, by response name: CollectFields of the GraphQL specification
 * (section 6.3.2), for documents without directives.
 */
export function collectFields(
  source: Source,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>()
  const seen = new Set<string>()
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections)
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value
        const nodes = fields.get(name)
        if (nodes) nodes.push(selection)
        else fields.set(name, [selection])
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        if (matchesType(source, selection.typeCondition?.name.value, type)) collect(selection.selectionSet)
      } else if (!seen.has(selection.name.value)) {
        seen.add(selection.name.value)
        const fragment = source.fragments[selection.name.value]
        if (fragment && matchesType(source, fragment.typeCondition.name.value, type))
          collect(fragment.selectionSet)
      }
  }
  selectionSets.forEach(collect)
  return fields
}
