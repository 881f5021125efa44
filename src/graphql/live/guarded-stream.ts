import type { ExecutionResult } from 'graphql'
import { AppError } from '../../core/errors.ts'
import { toAppError } from '../../core/to-app-error.ts'
import type { GraphQLContext } from '../context.ts'
import { toGraphQLError } from '../error-masking.ts'
import { addStreamExtensions } from './result-text.ts'

/** Ends the stream of a subscription; with `reason`, the subscriber receives it as the last error. */
export const abortStream = (context: GraphQLContext, reason?: AppError): void => context.stream.abort(reason)

const DONE = { done: true, value: undefined } as const

/**
 * Wraps the results of a subscription: adds the position to the extensions of each, and ends at once when the
 * stream is aborted or the client disconnects, even while the source waits. (An async generator could end
 * only after its pending await.)
 */
export function createGuardedStream(
  results: AsyncGenerator<ExecutionResult>,
  context: GraphQLContext,
): AsyncGenerator<ExecutionResult> {
  const { signal } = context.stream
  const { requestId } = context.ctx
  let isDone = false
  const aborted = new Promise<'aborted'>((resolve) => {
    if (signal.aborted) resolve('aborted')
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true })
  })
  const finishStream = (): typeof DONE => {
    isDone = true
    abortStream(context)
    // The source ends with the signal; its pending result is dropped.
    results.return?.(undefined).catch(() => undefined)
    return DONE
  }
  const endWithError = (reason: AppError): IteratorResult<ExecutionResult> => {
    finishStream()
    return { done: false, value: { errors: [toGraphQLError(reason, requestId)] } }
  }
  const stream = {
    next: async (): Promise<IteratorResult<ExecutionResult>> => {
      if (isDone) return DONE
      try {
        const step = signal.aborted ? 'aborted' : await Promise.race([results.next(), aborted])
        if (step === 'aborted')
          return signal.reason instanceof AppError ? endWithError(signal.reason) : finishStream()
        if (step.done) return finishStream()
        return { done: false, value: addStreamExtensions(step.value, context) }
      } catch (error) {
        return endWithError(toAppError(error))
      }
    },
    return: async () => finishStream(),
    throw: async () => finishStream(),
    [Symbol.asyncIterator]: () => stream,
    [Symbol.asyncDispose]: async () => void finishStream(),
  }
  return stream as AsyncGenerator<ExecutionResult>
}
