import type { ExecutionResult } from 'graphql'
import { isAsyncIterable } from 'graphql-yoga'
import { decodePosition, encodePosition, type Position } from '../../events/position.ts'
import type { GraphQLContext } from '../context.ts'
import { createShareKey } from './share-key.ts'
import {
  canJoin,
  leaveExecution,
  type Member,
  openExecution,
  type SharedExecution,
  type SharedOperation,
} from './shared-execution.ts'

/** The number of open streams of a key. */
const streams = new Map<string, number>()

function countStream(key: string): () => void {
  streams.set(key, (streams.get(key) ?? 0) + 1)
  return () => {
    const left = (streams.get(key) ?? 1) - 1
    if (left === 0) streams.delete(key)
    else streams.set(key, left)
  }
}

const readPosition = ({ streamPosition }: GraphQLContext): Position => decodePosition(streamPosition ?? '')

/** Receives results until the stream ends or its reader is too slow. Returns the position of the last one. */
function receiveResults(
  execution: SharedExecution,
  { ctx, stream: { signal }, deliver }: GraphQLContext & { deliver: Member['deliver'] },
  position: Position,
): Promise<Position> {
  return new Promise((resolve) => {
    const member: Member = {
      requestId: ctx.requestId,
      position,
      deliver,
      onLeave: () => {
        signal.removeEventListener('abort', leave)
        resolve(member.position)
      },
    }
    const leave = () => leaveExecution(execution, member)
    signal.addEventListener('abort', leave)
    execution.members.add(member)
  })
}

const hasDelivery = (context: GraphQLContext): context is GraphQLContext & { deliver: Member['deliver'] } =>
  context.deliver !== null

/** Executes the subscription for this stream alone, from a position on. */
async function resumeAlone(
  { args, context, subscribe }: SharedOperation,
  position: Position,
): Promise<AsyncGenerator<ExecutionResult>> {
  context.lastEventId = encodePosition(position)
  const resumed = await subscribe(args)
  if (isAsyncIterable(resumed)) return resumed as AsyncGenerator<ExecutionResult>
  return (async function* () {
    yield resumed as ExecutionResult
  })()
}

/**
 * The results of a subscription. While another stream has the same key, both share one execution, whose results are
 * delivered apart from this generator. A stream executes alone until it has reached the shared execution, and while
 * its reader is slow.
 */
export async function* shareResults(
  results: AsyncGenerator<ExecutionResult>,
  operation: SharedOperation,
): AsyncGenerator<ExecutionResult, void, undefined> {
  const { args, context } = operation
  const key = createShareKey(args, context)
  const uncount = countStream(key)
  let alone = results
  try {
    while (!context.stream.signal.aborted) {
      if (hasDelivery(context) && (streams.get(key) ?? 0) > 1) {
        const execution = await openExecution(key, operation)
        const position = readPosition(context)
        if (execution && canJoin(execution, position) && !context.stream.signal.aborted) {
          await alone.return(undefined)
          const last = await receiveResults(execution, context, position)
          if (context.stream.signal.aborted) return
          alone = await resumeAlone(operation, last)
        }
      }
      const step = await alone.next()
      if (step.done) return
      yield step.value
    }
  } finally {
    uncount()
    await alone.return(undefined)
  }
}
