import {
  defaultFieldResolver,
  type FieldNode,
  type GraphQLResolveInfo,
  getArgumentValues,
  locatedError,
} from 'graphql'
import { type FieldPlan, isPromise, type Path, type Run } from './run.ts'

const toKeys = (path: Path): (string | number)[] => {
  const keys: (string | number)[] = []
  for (let part: Path | undefined = path; part; part = part.prev) keys.unshift(part.key)
  return keys
}

/** What a position of the response is, for its error. */
export type Position = { nodes: readonly FieldNode[]; isNonNull: boolean; path: Path }

/**
 * Handles the error of a position (GraphQL, section 6.4.4): reports it and returns null, or throws it where null is
 * not permitted.
 */
export function handleFieldError(run: Run, thrown: unknown, { nodes, isNonNull, path }: Position): null {
  const keys = toKeys(path)
  const causes: readonly unknown[] = thrown instanceof AggregateError ? thrown.errors : [thrown]
  for (const cause of causes) {
    const error = locatedError(cause, nodes as FieldNode[], keys)
    if (isNonNull) throw error
    run.errors.push(error)
  }
  return null
}

const buildInfo = (
  run: Run,
  { definition, nodes, parentType }: FieldPlan,
  path: Path,
): GraphQLResolveInfo => ({
  fieldName: definition.name,
  fieldNodes: nodes,
  returnType: definition.type,
  parentType,
  path,
  schema: run.schema,
  fragments: run.fragments,
  rootValue: run.rootValue,
  operation: run.operation,
  variableValues: run.variableValues,
})

/** Executes a field as section 6.4 of the GraphQL specification says. Returns its value or a promise of it. */
export function executeField(run: Run, field: FieldPlan, source: unknown, parent: Path | undefined): unknown {
  const { definition, nodes, responseName, isNonNull, complete } = field
  const path: Path = { prev: parent, key: responseName, typename: field.parentType.name }
  const info = buildInfo(run, field, path)
  try {
    const args =
      definition.args.length === 0
        ? {}
        : getArgumentValues(definition, nodes[0] as FieldNode, run.variableValues)
    const value = (definition.resolve ?? defaultFieldResolver)(source, args, run.contextValue, info)
    const completed = isPromise(value)
      ? value.then((resolved) => complete(run, resolved, path, info))
      : complete(run, value, path, info)
    return isPromise(completed)
      ? completed.then(undefined, (error) => handleFieldError(run, error, { nodes, isNonNull, path }))
      : completed
  } catch (error) {
    return handleFieldError(run, error, { nodes, isNonNull, path })
  }
}
