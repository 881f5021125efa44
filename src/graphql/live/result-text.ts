import type { ExecutionResult } from 'graphql'
import type { GraphQLContext } from '../context.ts'
import { maskErrors, toErrorJson } from '../error-masking.ts'

/** Adds the position of its event and the cost of the operation to a result of a subscription. */
export function addStreamExtensions(
  result: ExecutionResult,
  { streamPosition: position, call: { cost } }: GraphQLContext,
): ExecutionResult {
  return { ...result, extensions: { ...result.extensions, position, ...(cost && { cost }) } }
}

/** The JSON of a result, whose errors name the request. JSON.stringify writes no line break. */
export const toResultText = ({ errors, ...result }: ExecutionResult, requestId: string): string =>
  JSON.stringify({ ...result, ...(errors && { errors: maskErrors(errors, requestId).map(toErrorJson) }) })
