import { RequestCache } from '@pothos/plugin-scope-auth'
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLSchema,
  getOperationAST,
  OperationTypeNode,
  print,
  validate,
} from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import { watchStreamToken } from '../../access/watch-token.ts'
import { toListCtx } from '../../context/context.ts'
import { AnswerTooLarge } from '../../core/errors.ts'
import { estimateJson } from '../../core/json/json-size.ts'
import { ANSWER_BYTES } from '../../core/network/read-limit.ts'
import { findRecord, noteOperation } from '../../core/requests/record.ts'
import { startSpan } from '../../core/requests/spans.ts'
import type { AnswerBytes } from '../../core/workload.ts'
import { type Compilation, executeQuery } from '../compiled/execute.ts'
import type { GraphQLContext } from '../context.ts'
import { findEarlyFields } from '../early-fields.ts'
import { maskErrors, toGraphQLError } from '../error-masking.ts'
import { executeIdempotently, findIdempotencyKey } from '../idempotency.ts'
import { EventReads } from '../live/event-reads.ts'
import { holdSubscription } from '../live/live-limits.ts'
import { SubscriptionStream } from '../live/subscription-stream.ts'
import { Loaders } from '../loaders.ts'
import { ANONYMOUS_LIMITS, assertLength, CALLER_LIMITS, findDocumentError } from './document-limits.ts'
import { createKnownDocuments, readText } from './known-documents.ts'
import { checkOperation, LIMIT_RULES, type OperationArgs } from './operation-limits.ts'

/** The maximum number of reported errors of a document. */
const MAX_ERRORS = 20

/** Adds the cost of the operation to the extensions of the result. */
const addCost = (result: ExecutionResult, { call: { cost } }: GraphQLContext): ExecutionResult =>
  cost ? { ...result, extensions: { ...result.extensions, cost } } : result

/** Executes an operation, under its Idempotency-Key if it has one. */
async function executeOperation(
  args: ExecutionArgs,
  context: GraphQLContext,
  execute: (args: ExecutionArgs) => unknown,
): Promise<ExecutionResult> {
  const run = async () => (await execute(args)) as ExecutionResult
  try {
    const key = findIdempotencyKey(args, context)
    if (key === null) return await run()
    const request = [print(args.document), args.variableValues ?? {}, args.operationName ?? null]
    return await executeIdempotently(key, context, request, run)
  } catch (error) {
    return { errors: maskErrors([error], context.ctx.requestId) }
  }
}

/** Limits the statements of a query or subscription as those of lists. */
function setListWorkload(context: GraphQLContext, answer: AnswerBytes | undefined): void {
  context.ctx = toListCtx(context.ctx, answer)
  context.loaders = new Loaders(context.ctx.db)
}

/** Reads the early fields, then executes the query. */
async function executeAfterReads(
  args: ExecutionArgs,
  context: GraphQLContext,
  execute: (args: ExecutionArgs) => unknown,
  early: ReturnType<typeof findEarlyFields>,
): Promise<ExecutionResult> {
  try {
    for (const { read } of early) await read(context)
  } catch (error) {
    return { errors: maskErrors([error], context.ctx.requestId) }
  }
  return (await execute(args)) as ExecutionResult
}

const isAnonymous = ({ ctx }: GraphQLContext): boolean => ctx.actor.kind === 'anonymous'

/** Limits the bytes of a result, and counts them until it is sent. */
function boundResult(
  result: ExecutionResult,
  { ctx, call }: GraphQLContext,
  isRead: boolean,
): ExecutionResult {
  try {
    const bytes = estimateJson(result, ANSWER_BYTES)
    if (bytes > ANSWER_BYTES)
      throw isRead
        ? new AnswerTooLarge()
        : new AnswerTooLarge('The operation took effect. Its answer is too large.')
    ctx.answer?.growTo(bytes, !isRead)
    return result
  } catch (error) {
    call.isMasked = true
    return { errors: maskErrors([error], ctx.requestId) }
  }
}

const isQuery = ({ document, operationName }: ExecutionArgs): boolean =>
  getOperationAST(document, operationName)?.operation === OperationTypeNode.QUERY

/** Counts a subscription, and ends it with its token. Returns the result of one that is rejected, else null. */
function holdStream(context: GraphQLContext): ExecutionResult | null {
  const { ctx } = context
  try {
    const release = holdSubscription(ctx)
    watchStreamToken(context, (reason) => {
      release()
      context.stream.transport?.handleEnd(reason)
    })
    return null
  } catch (error) {
    return { errors: maskErrors([error], ctx.requestId) }
  }
}

export type ExecutionSettings = {
  isProduction: boolean
  /** The results are the same. */
  compilation: Compilation
}

/**
 * Yoga plugin with the rules of all operations, over HTTP, event streams and WebSockets. (Yoga's HTTP plugins
 * do not see WebSockets.)
 */
export function createOperationRules({
  isProduction,
  compilation,
}: ExecutionSettings): Plugin<GraphQLContext> {
  const documents = createKnownDocuments()
  const checkRequest = (args: OperationArgs, context: GraphQLContext): ExecutionResult | null => {
    if (context.rejection) return { errors: [toGraphQLError(context.rejection, context.ctx.requestId)] }
    const { cost, errors } = checkOperation(args, context.ctx, isProduction)
    context.call.cost = cost
    const record = findRecord()
    if (record) noteOperation(record, getOperationAST(args.document, args.operationName)?.name?.value)
    if (errors.length > 0) return addCost({ errors }, context)
    try {
      context.ctx.answer?.requireRoom()
    } catch (error) {
      return addCost({ errors: maskErrors([error], context.ctx.requestId) }, context)
    }
    if (!isAnonymous(context)) documents.keep(args.document, context.ctx)
    return null
  }
  return {
    onParse({ context, setParseFn }) {
      // Also for a known document: the limits depend on the caller.
      setParseFn((text) => {
        const limits = isAnonymous(context as GraphQLContext) ? ANONYMOUS_LIMITS : CALLER_LIMITS
        assertLength(text, limits)
        const document = documents.parse(text)
        const error = findDocumentError(document, limits)
        if (error) throw error
        return document
      })
    },
    onValidate({ addValidationRule, setValidationFn }) {
      for (const rule of LIMIT_RULES) addValidationRule(rule)
      // Suggestions ("Did you mean") would disclose the schema in production.
      const options = { maxErrors: MAX_ERRORS, hideSuggestions: isProduction }
      setValidationFn((schema: GraphQLSchema, document: DocumentNode, rules) =>
        documents.has(document) ? [] : validate(schema, document, rules, options),
      )
    },
    onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const context = args.contextValue as GraphQLContext
      const rejection = checkRequest(args, context)
      if (rejection) {
        setResultAndStopExecution(rejection)
        return
      }
      const isRead = isQuery(args)
      const name = findRecord()?.operation
      const span = startSpan({ name: 'graphql', kind: 'internal', facts: { 'graphql.operation.name': name } })
      if (isRead) {
        setListWorkload(context, context.ctx.answer)
        const execute: typeof executeFn =
          compilation === 'none'
            ? executeFn
            : (executionArgs) => executeQuery(executionArgs, executeFn, compilation)
        const early = isAnonymous(context) ? [] : findEarlyFields(readText(args.document))
        setExecuteFn(
          early.length > 0
            ? (executionArgs) => executeAfterReads(executionArgs, context, execute, early)
            : execute,
        )
      } else if (context.call.idempotencyKey !== null)
        setExecuteFn((executionArgs) => executeOperation(executionArgs, context, executeFn))
      return {
        onExecuteDone({ result, setResult }) {
          span?.end()
          if (isAsyncIterable(result)) return
          // Its WeakMap would keep the context and the rows until a collection of the whole heap.
          RequestCache.clearForContext(context)
          setResult(addCost(boundResult(result, context, isRead), context))
        },
      }
    },
    onSubscribe({ args, subscribeFn, setResultAndStopExecution }) {
      const context = args.contextValue as GraphQLContext
      const rejection = checkRequest(args, context)
      if (rejection) {
        setResultAndStopExecution(rejection)
        return
      }
      // The results of a stream are bounded one by one.
      setListWorkload(context, new EventReads())
      return {
        onSubscribeResult({ result, setResult }) {
          if (!isAsyncIterable(result)) return
          const rejection = holdStream(context)
          if (rejection) {
            void (result as AsyncGenerator<ExecutionResult>).return(undefined)
            return setResult(rejection)
          }
          const operation = { args: args as ExecutionArgs, context, subscribe: subscribeFn }
          setResult(new SubscriptionStream(operation, result as AsyncGenerator<ExecutionResult>))
        },
      }
    },
  }
}
