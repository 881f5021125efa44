import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  getVariableValues,
} from 'graphql'
import { countPlainQuery } from '../../core/metrics.ts'
import type { GraphQLContext } from '../context.ts'
import { type CompiledQuery, compileQuery } from './compile.ts'
import { isPromise, type Run } from './run.ts'

/** Executes an operation, such as `execute` of graphql-js. */
type Execute = (args: ExecutionArgs) => unknown

const MAX_VARIABLE_ERRORS = 50

/**
 * Which queries are compiled: those that are executed again, all, or none. Compiling takes about as long as the
 * validation, so that a query that is executed once is not worth it.
 */
export type Compilation = 'repeated' | 'all' | 'none'

/**
 * The compiled queries of documents, which have one operation each. They are forgotten with the document, whose size in
 * known-documents.ts includes them.
 */
const queries = new WeakMap<DocumentNode, CompiledQuery>()
/** Documents that were executed before, and those of them that have no compiled form. */
const executed = new WeakSet<DocumentNode>()
const plain = new WeakSet<DocumentNode>()

/** The compiled query of a document; null for one that is executed in the plain way. */
function findQuery(
  { schema, document, operationName }: ExecutionArgs,
  compilation: Compilation,
): CompiledQuery | null {
  const known = queries.get(document)
  if (known) return known
  if (compilation === 'repeated' && !executed.has(document)) {
    executed.add(document)
    return null
  }
  const compiled = plain.has(document) ? null : compileQuery(schema, document, operationName)
  if (compiled) queries.set(document, compiled)
  else {
    plain.add(document)
    countPlainQuery()
  }
  return compiled
}

const buildResult = (data: unknown, errors: readonly GraphQLError[]): ExecutionResult =>
  (errors.length === 0 ? { data } : { errors, data }) as ExecutionResult

/** Returns the result of a compiled query. */
function runQuery(query: CompiledQuery, args: ExecutionArgs, variableValues: Run['variableValues']) {
  const errors: GraphQLError[] = []
  const run: Run = {
    schema: args.schema,
    fragments: query.fragments,
    operation: query.operation,
    variableValues,
    rootValue: args.rootValue,
    contextValue: args.contextValue as GraphQLContext,
    errors,
    allowed: new Map(),
  }
  const reject = (error: unknown): ExecutionResult => {
    errors.push(error as GraphQLError)
    return buildResult(null, errors)
  }
  try {
    const data = query.execute(run, args.rootValue, undefined)
    return isPromise(data)
      ? data.then((resolved) => buildResult(resolved, errors), reject)
      : buildResult(data, errors)
  } catch (error) {
    return reject(error)
  }
}

/**
 * Executes a valid query by its compiled form. What has none, and what has invalid variables, is executed by
 * `executePlain`, with the same result. See docs/decisions/0096.
 */
export function executeQuery(args: ExecutionArgs, executePlain: Execute, compilation: Compilation): unknown {
  const query = findQuery(args, compilation)
  if (!query) return executePlain(args)
  const { coerced } = getVariableValues(
    args.schema,
    query.operation.variableDefinitions ?? [],
    args.variableValues ?? {},
    { maxErrors: MAX_VARIABLE_ERRORS },
  )
  return coerced ? runQuery(query, args, coerced) : executePlain(args)
}
