import { initContextCache } from '@pothos/core'
import { takeTurn } from '../core/turns.ts'
import { Handle } from '../database/handle.ts'
import type { GraphQLContext } from '../graphql/context.ts'
import { Loaders } from '../graphql/loaders.ts'
import { decodePosition, encodePosition, type Position } from '../model/event-position.ts'
import { type LogEvent, readEvents, readHead } from './log.ts'
import { followEvents } from './tail.ts'

/** The source value of a subscription field: an event, or the position after a gap. */
export type Followed = { event: LogEvent } | { gap: Position }

/**
 * Loaders by event: all subscribers of the process that receive an event share the rows that its payload
 * reads. The rows are never older than the event.
 */
const loadersByEvent = new WeakMap<LogEvent, Loaders>()

function getEventLoaders(tenant: string, event: LogEvent): Loaders {
  let loaders = loadersByEvent.get(event)
  if (!loaders) {
    loaders = new Loaders(new Handle({ tenant, workload: 'list' }))
    loadersByEvent.set(event, loaders)
  }
  return loaders
}

/**
 * Resolves the position to start from: Last-Event-ID, which a reconnecting HTTP client sends with its
 * original arguments, else `after`, else what `readNewest` returns. Throws InvalidInput for an invalid
 * position.
 */
export async function resolveStart(
  { ctx, stream: { lastEventId } }: GraphQLContext,
  after: string | null | undefined,
  readNewest: () => Promise<Position>,
): Promise<Position> {
  const text = lastEventId ?? after
  if (!text) return readNewest()
  const position = decodePosition(text)
  await readEvents(ctx.db, position, 1)
  return position
}

/**
 * Creates the source of a subscription field: the events of the tenant that match. Resolves once the start
 * position is fixed, so that no event after the beginning of the response is missed. Throws InvalidInput
 * about `after`.
 */
export async function subscribeToLog(
  context: GraphQLContext,
  after: string | null | undefined,
  matches: (event: LogEvent) => boolean,
): Promise<AsyncGenerator<Followed>> {
  const start = await resolveStart(context, after, async () => (await readHead(context.ctx.db)).head)
  context.stream.position = encodePosition(start)
  return followMatching(context, start, matches)
}

/** Prepares the context for the next result of a subscription, which has the position. */
export async function beginResult(context: GraphQLContext, position: string): Promise<void> {
  // Thousands of subscribers may receive the same event.
  await takeTurn(context.ctx)
  // Pothos caches authorization results for the lifetime of the context, which may be hours here.
  Object.assign(context, initContextCache())
  context.stream.position = position
}

async function* followMatching(
  context: GraphQLContext,
  start: Position,
  matches: (event: LogEvent) => boolean,
): AsyncGenerator<Followed> {
  for await (const followed of followEvents(context.ctx.tenant, start, context.stream.stop.signal)) {
    if (followed.kind === 'event' && !matches(followed.event)) continue
    if (followed.kind === 'gap') {
      await beginResult(context, encodePosition(followed.position))
      yield { gap: followed.position }
    } else {
      await beginResult(context, followed.event.position)
      if (context.ctx.answer) context.ctx.answer.readBytes = 0
      context.loaders = getEventLoaders(context.ctx.tenant, followed.event)
      yield { event: followed.event }
    }
  }
}
