import type {
  FieldNode,
  GraphQLError,
  GraphQLField,
  GraphQLObjectType,
  GraphQLResolveInfo,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql'
import type { GraphQLContext } from '../context.ts'
import type { OwnFieldRule } from '../own-fields.ts'
import type { Fragments } from './fields.ts'

/** A place in the response. */
export type Path = GraphQLResolveInfo['path']

/** One execution of a compiled operation. */
export type Run = {
  schema: GraphQLSchema
  fragments: Fragments
  operation: OperationDefinitionNode
  variableValues: Record<string, unknown>
  rootValue: unknown
  contextValue: GraphQLContext
  errors: GraphQLError[]
  /** Whether the caller may read the fields of a rule, by the rule. */
  allowed: Map<OwnFieldRule, boolean>
}

/** Completes a value that a resolver returned (GraphQL, section 6.4.3). May return a promise; throws field errors. */
export type Complete = (run: Run, value: unknown, path: Path, info: GraphQLResolveInfo) => unknown

/** Executes the selected fields of an object. Returns the object of the response, or a promise of it. */
export type ExecuteSelection = (run: Run, source: unknown, path: Path | undefined) => unknown

/** A selected field of an object type. */
export type FieldPlan = {
  responseName: string
  nodes: readonly FieldNode[]
  definition: GraphQLField<unknown, unknown>
  parentType: GraphQLObjectType
  isNonNull: boolean
  complete: Complete
}

/** `__typename` in a selection. */
export type TypeNamePlan = { responseName: string; definition: null }

export const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof (value as Promise<unknown> | null | undefined)?.then === 'function'
