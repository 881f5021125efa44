import {
  BREAK,
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

/**
 * True for a document with what is executed in the plain way only: directives, introspection, or a response name that no
 * object literal may have.
 */
function isPlain(document: DocumentNode): boolean {
  let found = false
  visit(document, {
    Directive: () => {
      found = true
      return BREAK
    },
    Field: ({ name, alias }: FieldNode) => {
      if (name.value !== '__schema' && name.value !== '__type' && isUsable((alias ?? name).value))
        return undefined
      found = true
      return BREAK
    },
  })
  return found
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
  if (operation?.operation !== OperationTypeNode.QUERY || !root) return null
  if (isPlain(document)) return null
  const fragments: Fragments = Object.fromEntries(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition]] : [],
    ),
  )
  const execute = compileSelection({ schema, fragments }, root, [operation.selectionSet])
  return { operation, fragments, execute }
}
