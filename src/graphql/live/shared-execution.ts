import { initContextCache } from '@pothos/core'
import type { ExecutionArgs, ExecutionResult } from 'graphql'
import { isAsyncIterable } from 'graphql-yoga'
import { errorMessage } from '../../core/error-message.ts'
import { log } from '../../core/log.ts'
import { takeTurn } from '../../core/turns.ts'
import { comparePositions, decodePosition, type Position } from '../../model/event-position.ts'
import type { GraphQLContext } from '../context.ts'
import { EventReads } from './event-reads.ts'
import { addStreamExtensions, toResultText } from './result-text.ts'
import { createStream, type StreamTransport } from './stream.ts'

/** The number of deliveries in one turn: a few milliseconds. */
const DELIVERIES_PER_TURN = 250

/** A stream that receives the results of a shared execution. */
export type Member = {
  requestId: string
  /** The position of the last result that it received; later ones follow. */
  position: Position
  transport: StreamTransport
  /** Called once it no longer receives results. */
  onLeave: () => void
}

/** One execution of a subscription for all streams whose results are the same. See docs/decisions/0091. */
export type SharedExecution = {
  /** The position of the last result that was delivered. */
  position: Position
  members: Set<Member>
  stop: AbortController
}

const executions = new Map<string, Promise<SharedExecution | null>>()

/** Removes a stream. An execution without streams ends. */
export function leaveExecution({ members, stop }: SharedExecution, member: Member): void {
  if (!members.delete(member)) return
  member.onLeave()
  if (members.size === 0) stop.abort()
}

/** Whether a stream that has the results up to `position` can join, and misses none. */
export const canJoin = ({ position: at, stop }: SharedExecution, position: Position): boolean =>
  !stop.signal.aborted && comparePositions(at, position) <= 0

async function deliverToMembers(
  execution: SharedExecution,
  result: ExecutionResult,
  position: string,
  { ctx }: GraphQLContext,
): Promise<void> {
  // The errors of a result name the request of each stream.
  const shared = result.errors ? null : toResultText(result, '')
  let delivered = 0
  for (const member of execution.members) {
    // It joined while this result was delivered, and has it.
    if (comparePositions(execution.position, member.position) <= 0) continue
    if (member.transport.deliver(shared ?? toResultText(result, member.requestId), position))
      member.position = execution.position
    else leaveExecution(execution, member)
    delivered += 1
    if (delivered % DELIVERIES_PER_TURN === 0) await takeTurn(ctx)
  }
}

async function runExecution(
  execution: SharedExecution,
  results: AsyncGenerator<ExecutionResult>,
  context: GraphQLContext,
): Promise<void> {
  try {
    for await (const result of results) {
      const position = context.stream.position ?? ''
      execution.position = decodePosition(position)
      await deliverToMembers(execution, addStreamExtensions(result, context), position, context)
    }
  } catch (error) {
    // Its streams continue by themselves, and meet the error if it lasts.
    log.warn({ err: errorMessage(error) }, 'a shared subscription has ended')
  }
  execution.stop.abort()
  for (const member of [...execution.members]) leaveExecution(execution, member)
}

/** What an execution is started with: a stream that is to share it. */
export type SharedOperation = {
  args: ExecutionArgs
  context: GraphQLContext
  /** Executes a subscription, as graphql-js does. */
  subscribe: (args: ExecutionArgs) => unknown
}

async function startExecution(
  key: string,
  { args, context, subscribe }: SharedOperation,
): Promise<SharedExecution | null> {
  const position = context.stream.position ?? ''
  // It resumes at the position, which takes precedence over the argument `after`.
  const stream = createStream(position)
  const { stop } = stream
  stop.signal.addEventListener('abort', () => executions.delete(key), { once: true })
  const ctx = { ...context.ctx, answer: new EventReads() }
  const contextValue = { ...context, ctx, stream, ...initContextCache() }
  const results = await subscribe({ ...args, contextValue })
  if (!isAsyncIterable(results)) {
    stop.abort()
    return null
  }
  const execution = { position: decodePosition(position), members: new Set<Member>(), stop }
  void runExecution(execution, results as AsyncGenerator<ExecutionResult>, contextValue)
  return execution
}

/**
 * Returns the execution of a key, and starts it at the position of the stream if there is none. Null when it cannot
 * be started: the stream continues by itself.
 */
export function openExecution(key: string, operation: SharedOperation): Promise<SharedExecution | null> {
  let execution = executions.get(key)
  if (!execution) {
    execution = startExecution(key, operation)
    executions.set(key, execution)
  }
  return execution
}
