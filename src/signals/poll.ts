import { setTimeout as sleep } from 'node:timers/promises'
import { createHoldLimit } from '../coordination/hold-limits.ts'
import { onInserted } from '../database/insertions.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { toStoredError } from './push.ts'
import { PollBody } from './stream-configuration.ts'
import { findOwnStream, type Receiver } from './stream-management.ts'
import { acknowledgeTokens, selectWaitingTokens, type WaitingToken } from './tokens.sql.ts'
import { signToken } from './tokens.ts'

/** Events of one answer. */
const MAX_EVENTS = 100
/** How long a poll waits for an event. */
const HOLD_MS = 25_000
/** How often a poll that waits looks for events that other processes have inserted. */
const LOOK_MS = 1000

const polls = createHoldLimit('polls', { caller: 8, site: 100, tenant: 100, process: 300 })

/** Waits until this process inserts an event of the tenant, or a second passes. */
async function awaitInsertion(tenant: string): Promise<void> {
  const wait = new AbortController()
  const unlisten = onInserted('SignalToken', (of) => of === tenant && wait.abort())
  await sleep(LOOK_MS, undefined, { signal: wait.signal, ref: false }).catch(() => undefined)
  unlisten()
}

/** The events that wait, of which there is one more than `limit` where others remain. Waits for the first one, with `until`. */
async function awaitTokens(
  { ctx, clientId }: Receiver,
  streamId: string,
  { limit, until, isEnded }: { limit: number; until: number; isEnded: () => boolean },
): Promise<WaitingToken[]> {
  const read = () => selectWaitingTokens(ctx.db, streamId, limit + 1)
  let tokens = await read()
  if (tokens.length > 0 || Date.now() >= until) return tokens
  const release = polls.hold({ caller: `${ctx.tenant}:${clientId}`, tenant: ctx.tenant, ip: ctx.ip })
  try {
    while (tokens.length === 0 && Date.now() < until && !isEnded()) {
      await awaitInsertion(ctx.tenant)
      tokens = await read()
    }
    return tokens
  } finally {
    release()
  }
}

/**
 * Answers a poll (RFC 8936, section 2): ends the events that the receiver acknowledges or rejects, and returns those that
 * wait, at most 100. An event is returned again until it is acknowledged. Throws InvalidInput, NotFound and RateLimited.
 */
export async function pollStream(
  receiver: Receiver,
  streamId: string,
  { body, isEnded }: { body: unknown; isEnded: () => boolean },
): Promise<{ sets: Record<string, string>; moreAvailable?: true }> {
  const { maxEvents, returnImmediately, ack, setErrs } = parseInput(PollBody, body)
  const { ctx } = receiver
  const { delivery } = await findOwnStream(receiver, streamId)
  const errors = Object.entries(setErrs ?? {})
  const ids = [...(ack ?? []), ...errors.map(([id]) => id)]
  const [last] = errors.map(([, { err, description }]) => toStoredError(err, description))
  if (ids.length > 0) await acknowledgeTokens(ctx.db, { streamId, ids, error: last ?? null })
  const limit = Math.min(maxEvents ?? MAX_EVENTS, MAX_EVENTS)
  if (limit === 0 || delivery !== 'poll') return { sets: {} }
  const until = returnImmediately ? 0 : Date.now() + HOLD_MS
  const tokens = await awaitTokens(receiver, streamId, { limit, until, isEnded })
  const sets: Record<string, string> = {}
  for (const token of tokens.slice(0, limit)) sets[token.id] = await signToken(ctx.tenant, token)
  return { sets, ...(tokens.length > limit && { moreAvailable: true }) }
}
