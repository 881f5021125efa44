import { initContextCache } from '@pothos/core'
import type { ExecutionResult } from 'graphql'
import { isAsyncIterable } from 'graphql-yoga'
import { decodePosition, encodePosition, type Position } from '../../core/event-position.ts'
import type { GraphQLContext } from '../context.ts'
import { Loaders } from '../loaders.ts'
import { createShareKey } from './share-key.ts'
import {
  canJoin,
  leaveExecution,
  type Member,
  openExecution,
  type SharedExecution,
  type SharedOperation,
} from './shared-execution.ts'

/** The open streams of a key, each of which refers to the same text. */
type StreamCount = { key: string; open: number }

const streamCounts = new Map<string, StreamCount>()

function countStream(key: string): StreamCount {
  const count = streamCounts.get(key) ?? { key, open: 0 }
  streamCounts.set(key, count)
  count.open += 1
  return count
}

function uncountStream(count: StreamCount): void {
  count.open -= 1
  if (count.open === 0) streamCounts.delete(count.key)
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

/** Drops what the context keeps of the rows that it has read: a stream may wait for hours. */
function releaseRows(context: GraphQLContext): void {
  context.loaders = new Loaders(context.ctx)
  Object.assign(context, initContextCache())
}

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

/** A stream, and the results of its own execution; null while it shares one. */
type OwnExecution = SharedOperation & { results: AsyncGenerator<ExecutionResult> | null }

/** Shares the execution of a key, if there is one that the stream can join, until the stream leaves it. */
async function shareExecution(key: string, stream: OwnExecution): Promise<void> {
  const { context } = stream
  if (!hasDelivery(context)) return
  const execution = await openExecution(key, stream)
  const position = readPosition(context)
  if (!execution || !canJoin(execution, position) || context.stream.signal.aborted) return
  await stream.results?.return(undefined)
  stream.results = null
  releaseRows(context)
  const last = await receiveResults(execution, context, position)
  if (!context.stream.signal.aborted) stream.results = await resumeAlone(stream, last)
}

/**
 * The results of a subscription. While another stream has the same key, both share one execution, whose results are
 * delivered apart from this generator. A stream executes alone until it has reached the shared execution, and while
 * its reader is slow.
 */
export async function* shareResults(stream: OwnExecution): AsyncGenerator<ExecutionResult, void, undefined> {
  const count = countStream(createShareKey(stream.args, stream.context))
  const { signal } = stream.context.stream
  try {
    while (!signal.aborted) {
      if (count.open > 1) await shareExecution(count.key, stream)
      const step = await stream.results?.next()
      if (!step || step.done) return
      yield step.value
    }
  } finally {
    uncountStream(count)
    await stream.results?.return(undefined)
  }
}
