import { type DocumentNode, type ExecutionResult, type GraphQLSchema, parse, validate } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { GraphQLContext } from './context.ts'
import { LIMIT_RULES, MAX_TOKENS, type OperationArgs, operationFaults } from './limits.ts'
import { toGraphQLError } from './masking.ts'
import { watchToken } from './revocation.ts'
import { guardStream } from './stream.ts'

/** No more faults of a document are listed than a person would mend at once. */
const MAX_FAULTS = 20

/**
 * Everything that holds for an operation, however it arrives: HTTP, event stream and WebSocket all execute through
 * it. (Yoga's own HTTP plugins do not see WebSockets.)
 */
export function operationRules(isProduction: boolean): Plugin<GraphQLContext> {
  const faultOf = (args: OperationArgs, context: GraphQLContext): ExecutionResult | null => {
    if (context.fault) return { errors: [toGraphQLError(context.fault, context.ctx.requestId)] }
    const errors = operationFaults(args, context.ctx, isProduction)
    return errors.length > 0 ? { errors } : null
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
    onExecute({ args, context, setResultAndStopExecution }) {
      const fault = faultOf(args, context as GraphQLContext)
      if (fault) setResultAndStopExecution(fault)
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
