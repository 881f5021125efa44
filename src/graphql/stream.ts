import { initContextCache } from '@pothos/core'
import type { ExecutionResult } from 'graphql'
import { AppError, describeError } from '../errors.ts'
import { followEvents } from '../event-tail.ts'
import {
  decodePosition,
  encodePosition,
  type LogEvent,
  type Position,
  readEvents,
  readHead,
} from '../events.ts'
import type { GraphQLContext } from './context.ts'
import { createLoaders, type Loaders } from './loaders.ts'
import { toGraphQLError } from './masking.ts'

/** What a subscription field resolves from: an entry of the log, or the sign that some are gone. */
export type Followed = { event: LogEvent } | { gap: Position }

/**
 * The rows that an event's payload shows, read once for all subscribers of the process who get the same event. They
 * are never older than the event.
 */
const loadersOfEvents = new WeakMap<LogEvent, Loaders>()

function loadersOf(tenant: string, event: LogEvent): Loaders {
  let loaders = loadersOfEvents.get(event)
  if (!loaders) {
    loaders = createLoaders(tenant)
    loadersOfEvents.set(event, loaders)
  }
  return loaders
}

/**
 * Where to start: after what an HTTP client saw last (it reconnects with the arguments it began with), else after
 * `after`, else behind the newest entry. Throws InvalidInput when that was never a position.
 */
async function startOf(
  { ctx, lastEventId }: GraphQLContext,
  after: string | null | undefined,
): Promise<Position> {
  const given = lastEventId ?? after
  if (!given) return (await readHead(ctx.tenant)).head
  const position = decodePosition(given)
  await readEvents(ctx.tenant, position, 1)
  return position
}

/**
 * The source of a subscription field: follows the tenant's log and lets through what `matches`. Resolves once the
 * start is fixed, so that nothing that happens after the answer began is missed. Throws InvalidInput about `after`.
 */
export async function subscribeToLog(
  context: GraphQLContext,
  after: string | null | undefined,
  matches: (event: LogEvent) => boolean,
): Promise<AsyncGenerator<Followed>> {
  const start = await startOf(context, after)
  context.position = encodePosition(start)
  return follow(context, start, matches)
}

async function* follow(
  context: GraphQLContext,
  start: Position,
  matches: (event: LogEvent) => boolean,
): AsyncGenerator<Followed> {
  for await (const followed of followEvents(context.ctx.tenant, start, context.stream.signal)) {
    if (followed.kind === 'event' && !matches(followed.event)) continue
    // Pothos keeps what was permitted and loaded for as long as the context lives, which here may be hours.
    Object.assign(context, initContextCache())
    if (followed.kind === 'gap') {
      context.position = encodePosition(followed.position)
      yield { gap: followed.position }
    } else {
      context.position = followed.event.position
      context.loaders = loadersOf(context.ctx.tenant, followed.event)
      yield { event: followed.event }
    }
  }
}

/** Aborting a stream with an AppError tells the subscriber why; without one it just ends. */
export const endStream = (context: GraphQLContext, reason?: AppError): void => context.stream.abort(reason)

const DONE = { done: true, value: undefined } as const

/**
 * The results of a subscription, each with its position as an extension. Ends at once when the stream is aborted or
 * the client leaves, also while the source waits: a generator of our own would first finish waiting.
 */
export function guardStream(
  results: AsyncGenerator<ExecutionResult>,
  context: GraphQLContext,
): AsyncGenerator<ExecutionResult> {
  const { signal } = context.stream
  const { requestId } = context.ctx
  let over = false
  const aborted = new Promise<'aborted'>((resolve) => {
    if (signal.aborted) resolve('aborted')
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true })
  })
  const finish = (): typeof DONE => {
    over = true
    endStream(context)
    // What it still waits for ends with the signal; nobody needs to know how.
    results.return?.(undefined).catch(() => undefined)
    return DONE
  }
  const last = (reason: AppError): IteratorResult<ExecutionResult> => {
    finish()
    return { done: false, value: { errors: [toGraphQLError(reason, requestId)] } }
  }
  const stream = {
    next: async (): Promise<IteratorResult<ExecutionResult>> => {
      if (over) return DONE
      try {
        const step = signal.aborted ? 'aborted' : await Promise.race([results.next(), aborted])
        if (step === 'aborted') return signal.reason instanceof AppError ? last(signal.reason) : finish()
        if (step.done) return finish()
        const { position, call } = context
        const extensions = { ...step.value.extensions, position, ...(call.cost && { cost: call.cost }) }
        return { done: false, value: { ...step.value, extensions } }
      } catch (error) {
        return last(describeError(error))
      }
    },
    return: async () => finish(),
    throw: async () => finish(),
    [Symbol.asyncIterator]: () => stream,
    [Symbol.asyncDispose]: async () => void finish(),
  }
  return stream as AsyncGenerator<ExecutionResult>
}
