import {
  defaultTypeResolver,
  type FieldNode,
  type GraphQLAbstractType,
  GraphQLError,
  type GraphQLLeafType,
  type GraphQLList,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import { handleFieldError } from './execute-field.ts'
import { type Complete, type ExecuteSelection, isPromise, type Path, type Run } from './run.ts'

/** Compiles the selection of an object type. */
type CompileSelection = (type: GraphQLObjectType) => ExecuteSelection

const completeLeaf =
  (type: GraphQLLeafType): Complete =>
  (_run, value) => {
    const serialized = type.serialize(value)
    if (serialized == null) throw new Error(`${type.name}.serialize returned no value.`)
    return serialized
  }

function completeObject(type: GraphQLObjectType, execute: ExecuteSelection): Complete {
  const reject = (): never => {
    throw new GraphQLError(`Expected value of type "${type.name}".`)
  }
  const { isTypeOf } = type
  if (!isTypeOf) return (run, value, path) => execute(run, value, path)
  return (run, value, path, info) => {
    const matches = isTypeOf(value, run.contextValue, info)
    if (isPromise(matches))
      return matches.then((resolved) => (resolved ? execute(run, value, path) : reject()))
    return matches ? execute(run, value, path) : reject()
  }
}

function completeAbstract(type: GraphQLAbstractType, compileSelection: CompileSelection): Complete {
  const completions = new Map<string, Complete>()
  const findCompletion = ({ schema }: Run, name: unknown): Complete => {
    const known = typeof name === 'string' ? completions.get(name) : undefined
    if (known) return known
    const runtime = typeof name === 'string' ? schema.getType(name) : undefined
    if (!isObjectType(runtime) || !schema.isSubType(type, runtime))
      throw new GraphQLError(`"${String(name)}" is not a possible type of "${type.name}".`)
    const completion = completeObject(runtime, compileSelection(runtime))
    completions.set(runtime.name, completion)
    return completion
  }
  return (run, value, path, info) => {
    const name = (type.resolveType ?? defaultTypeResolver)(value, run.contextValue, info, type)
    return isPromise(name)
      ? name.then((resolved) => findCompletion(run, resolved)(run, value, path, info))
      : findCompletion(run, name)(run, value, path, info)
  }
}

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value

function completeList(
  type: GraphQLList<GraphQLOutputType>,
  nodes: readonly FieldNode[],
  item: Complete,
): Complete {
  const isNonNull = isNonNullType(type.ofType)
  return (run, value, path, info) => {
    if (!isIterable(value)) throw new GraphQLError(`Expected Iterable for "${info.fieldName}".`)
    const completed: unknown[] = []
    let hasPromise = false
    for (const entry of value) {
      const itemPath: Path = { prev: path, key: completed.length, typename: undefined }
      const handle = (error: unknown) => handleFieldError(run, error, { nodes, isNonNull, path: itemPath })
      try {
        const result = isPromise(entry)
          ? entry.then((resolved) => item(run, resolved, itemPath, info))
          : item(run, entry, itemPath, info)
        if (isPromise(result)) {
          hasPromise = true
          completed.push(result.then(undefined, handle))
        } else completed.push(result)
      } catch (error) {
        completed.push(handle(error))
      }
    }
    return hasPromise ? Promise.all(completed) : completed
  }
}

const completeNullable =
  (complete: Complete): Complete =>
  (run, value, path, info) => {
    if (value instanceof Error) throw value
    return value == null ? null : complete(run, value, path, info)
  }

const completeNonNull =
  (complete: Complete): Complete =>
  (run, value, path, info) => {
    const completed = complete(run, value, path, info)
    if (completed === null)
      throw new Error(`Cannot return null for non-nullable field ${info.parentType.name}.${info.fieldName}.`)
    return completed
  }

/** Compiles how values of a type are completed (GraphQL, section 6.4.3). */
export function compileCompletion(
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
  compileSelection: CompileSelection,
): Complete {
  if (isNonNullType(type)) return completeNonNull(compileCompletion(type.ofType, nodes, compileSelection))
  if (isListType(type))
    return completeNullable(
      completeList(type, nodes, compileCompletion(type.ofType, nodes, compileSelection)),
    )
  if (isLeafType(type)) return completeNullable(completeLeaf(type))
  if (isAbstractType(type)) return completeNullable(completeAbstract(type, compileSelection))
  return completeNullable(completeObject(type, compileSelection(type)))
}
