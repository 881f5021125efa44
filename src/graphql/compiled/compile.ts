import {
  type DocumentNode,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getOperationAST,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  visit,
} from 'graphql'
import { compileCompletion } from './complete.ts'
import { collectFields, type Fragments, type Source } from './fields.ts'
import type { ExecuteSelection, FieldPlan, TypeNamePlan } from './run.ts'
import { generateSelection } from './selection.ts'

/** A query that was compiled. */
export type CompiledQuery = {
  operation: OperationDefinitionNode
  fragments: Fragments
  execute: ExecuteSelection
}

/** `{ "__proto__": value }` sets a prototype. */
const isUsable = (name: string): boolean => name !== '__proto__'

/** Whether the document has nothing that is executed in the plain way only: directives, and introspection. */
function isCompilable(document: DocumentNode): boolean {
  let isFound = false
  visit(document, {
    Directive: () => {
      isFound = true
    },
    Field: ({ name, alias }: FieldNode) => {
      if (name.value === '__schema' || name.value === '__type' || !isUsable((alias ?? name).value))
        isFound = true
    },
  })
  return !isFound
}

const listSelectionSets = (nodes: readonly FieldNode[]): SelectionSetNode[] =>
  nodes.flatMap(({ selectionSet }) => selectionSet ?? [])

function compileSelection(
  source: Source,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): ExecuteSelection {
  const plans = [...collectFields(source, type, selectionSets)].map(
    ([responseName, nodes]): FieldPlan | TypeNamePlan => {
      const definition = type.getFields()[nodes[0]?.name.value ?? '']
      if (!definition) return { responseName, definition: null }
      const compileNested = (nested: GraphQLObjectType) =>
        compileSelection(source, nested, listSelectionSets(nodes))
      return {
        responseName,
        nodes,
        definition,
        parentType: type,
        isNonNull: isNonNullType(definition.type),
        complete: compileCompletion(definition.type, nodes, compileNested),
      }
    },
  )
  return generateSelection(type.name, plans)
}

/**
 * Compiles a valid document. Returns null for what is executed in the plain way: mutations, subscriptions, documents
 * with directives, and introspection.
 */
export function compileQuery(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): CompiledQuery | null {
  const operation = getOperationAST(document, operationName)
  const root = schema.getQueryType()
  if (operation?.operation !== OperationTypeNode.QUERY || !root || !isCompilable(document)) return null
  const fragments: Fragments = Object.fromEntries(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition]] : [],
    ),
  )
  const execute = compileSelection({ schema, fragments }, root, [operation.selectionSet])
  return { operation, fragments, execute }
}
