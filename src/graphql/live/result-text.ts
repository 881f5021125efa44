import type { ExecutionResult } from 'graphql'
import { AnswerTooLarge } from '../../core/errors.ts'
import { estimateJson } from '../../core/json/json-size.ts'
import type { GraphQLContext } from '../context.ts'
import { maskErrors, toErrorJson, toGraphQLError } from '../error-masking.ts'

/** A socket with more unsent bytes is closed. */
const MAX_RESULT_BYTES = 1_000_000

/** Adds the position of its event and the cost of the operation to a result of a subscription, and bounds its bytes. */
export function addStreamExtensions(
  result: ExecutionResult,
  { ctx: { requestId }, stream: { position }, call: { cost } }: GraphQLContext,
): ExecutionResult {
  const isTooLarge = estimateJson(result, MAX_RESULT_BYTES) > MAX_RESULT_BYTES
  const bounded = isTooLarge ? { errors: [toGraphQLError(new AnswerTooLarge(), requestId)] } : result
  return { ...bounded, extensions: { ...result.extensions, position, ...(cost && { cost }) } }
}

/** The JSON of a result, whose errors name the request. JSON.stringify writes no line break. */
export const toResultText = ({ errors, ...result }: ExecutionResult, requestId: string): string =>
  JSON.stringify({ ...result, ...(errors && { errors: maskErrors(errors, requestId).map(toErrorJson) }) })
