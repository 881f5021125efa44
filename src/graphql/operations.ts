import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLSchema,
  parse,
  print,
  validate,
} from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { GraphQLContext } from './context.ts'
import { executeUnderKey, keyOf } from './idempotency.ts'
import { judgeOperation, LIMIT_RULES, MAX_TOKENS, type OperationArgs } from './limits.ts'
import { maskErrors, toGraphQLError } from './masking.ts'
import { watchToken } from './revocation.ts'
import { guardStream } from './stream.ts'

/** No more faults of a document are listed than a person would mend at once. */
const MAX_FAULTS = 20

/** Callers see what the limit counts, so that they can stay below it. */
const withCost = (result: ExecutionResult, { call: { cost } }: GraphQLContext): ExecutionResult =>
  cost ? { ...result, extensions: { ...result.extensions, cost } } : result

/** Executes an operation, under the caller's Idempotency-Key where it is one of creations. */
async function executeOnce(
  args: ExecutionArgs,
  context: GraphQLContext,
  execute: (args: ExecutionArgs) => unknown,
): Promise<ExecutionResult> {
  const run = async () => (await execute(args)) as ExecutionResult
  try {
    const key = keyOf(args, context)
    if (key === null) return await run()
    const request = [print(args.document), args.variableValues ?? {}, args.operationName ?? null]
    return await executeUnderKey(key, context, request, run)
  } catch (error) {
    return { errors: maskErrors([error], context.ctx.requestId) }
  }
}

/**
 * Everything that holds for an operation, however it arrives: HTTP, event stream and WebSocket all execute through
 * it. (Yoga's own HTTP plugins do not see WebSockets.)
 */
export function operationRules(isProduction: boolean): Plugin<GraphQLContext> {
  const faultOf = (args: OperationArgs, context: GraphQLContext): ExecutionResult | null => {
    if (context.fault) return { errors: [toGraphQLError(context.fault, context.ctx.requestId)] }
    const { cost, faults } = judgeOperation(args, context.ctx, isProduction)
    context.call.cost = cost
    return faults.length > 0 ? withCost({ errors: faults }, context) : null
  }
  return {
    onParse({ setParseFn }) {
      setParseFn((source, options) => parse(source, { ...options, maxTokens: MAX_TOKENS }) as DocumentNode)
    },
    onValidate({ addValidationRule, setValidationFn }) {
      for (const rule of LIMIT_RULES) addValidationRule(rule)
      // "Did you mean" would tell the schema that introspection hides.
      const options = { maxErrors: MAX_FAULTS, hideSuggestions: isProduction }
      setValidationFn((schema: GraphQLSchema, document: DocumentNode, rules) =>
        validate(schema, document, rules, options),
      )
    },
    onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const context = args.contextValue as GraphQLContext
      const fault = faultOf(args, context)
      if (fault) {
        setResultAndStopExecution(fault)
        return
      }
      if (context.call.idempotencyKey !== null)
        setExecuteFn((given) => executeOnce(given, context, executeFn))
      return {
        onExecuteDone({ result, setResult }) {
          if (!isAsyncIterable(result)) setResult(withCost(result, context))
        },
      }
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const context = args.contextValue as GraphQLContext
      const fault = faultOf(args, context)
      if (fault) {
        setResultAndStopExecution(fault)
        return
      }
      return {
        onSubscribeResult({ result, setResult }) {
          if (!isAsyncIterable(result)) return
          watchToken(context)
          setResult(guardStream(result as AsyncGenerator<ExecutionResult>, context))
        },
      }
    },
  }
}
