import { newId } from '../core/crypto.ts'
import type { Scope } from '../core/scopes.ts'
import { mapInTurns } from '../core/turns.ts'
import type { Handle } from '../database/handle.ts'
import { toEventBody } from '../events/event-body.ts'
import {
  countTaken,
  FOLLOWED_BATCH,
  type LogReading,
  type NextTurn,
  startFollowing,
} from '../events/follow-log.ts'
import { createEventMatcher, getSubjectIds } from '../events/list.ts'
import type { LogEvent } from '../events/log.ts'
import type { EventType } from '../events/types.ts'
import { comparePositions, decodePosition, encodePosition } from '../model/event-position.ts'
import {
  advanceWebhook,
  type Follower,
  type NewMessage,
  passEvents,
  selectFollowers,
  selectWebhookTenants,
} from './webhooks.sql.ts'

/** Who creates a webhook may read events. */
const READER = { scopes: new Set<Scope>(['events:read']) }
/** An administrator of an organization reads its log without addresses of callers. */
const CUSTOMER = { scopes: new Set<Scope>() }

/** A message about these would cause them again, without end. */
const ECHOES: readonly string[] = ['webhook.failing', 'webhook.recovered'] satisfies EventType[]

/** The message about an event, as JSON (Standard Webhooks: `type`, `timestamp`, `data`). */
export function createBody(event: LogEvent, { payload, organizationId: ofOrganization }: Follower): string {
  const { id, position, organizationId } = event
  const data =
    payload === 'thin'
      ? { id, position, organizationId, subjectIds: getSubjectIds(event) }
      : toEventBody(ofOrganization === null ? READER : CUSTOMER, event)
  return JSON.stringify({ type: event.type, timestamp: event.occurredAt.toISOString(), data })
}

/** Events before the position were removed by retention: the receiver reads what they changed. */
const createGap = (position: string): NewMessage => ({
  id: newId('delivery'),
  messageId: `gap_${position}`,
  type: 'event.gap',
  subject: '',
  body: JSON.stringify({ type: 'event.gap', timestamp: new Date().toISOString(), data: { position } }),
})

const createMessage = (event: LogEvent, follower: Follower): NewMessage => ({
  id: newId('delivery'),
  messageId: event.id,
  type: event.type,
  subject: getSubjectIds(event)[0] ?? '',
  body: createBody(event, follower),
})

const isAfter = (position: string, other: string): boolean =>
  comparePositions(decodePosition(position), decodePosition(other)) > 0

/** Makes the next messages of a webhook. Returns whether it should be called again, at once or after a while. */
async function advance(
  db: Handle,
  follower: Follower,
  { trimmedTo, readAfter, pass }: LogReading,
): Promise<NextTurn> {
  const { id, types, organizationId, position, replayUntil, resumePosition, isFailing } = follower
  const move = { id, from: position, until: replayUntil }
  const room = countTaken(follower)
  if (room === 0) return isFailing ? 'idle' : 'soon'
  if (trimmedTo && comparePositions(decodePosition(position), trimmedTo) < 0) {
    const to = encodePosition(trimmedTo)
    await advanceWebhook(db, { ...move, to, isResumed: false, messages: [createGap(to)] })
    return 'now'
  }
  const { events: read, hidden } = await readAfter(position)
  const wanted = replayUntil === null ? read : read.filter((event) => !isAfter(event.position, replayUntil))
  const events = wanted.slice(0, room)
  const isResumed =
    replayUntil !== null &&
    events.length === wanted.length &&
    (wanted.length < read.length || (read.length < FOLLOWED_BATCH && !hidden))
  const to = isResumed ? resumePosition : events.at(-1)?.position
  if (!to) return hidden ? 'soon' : 'idle'
  const matches = createEventMatcher({ types: types.length > 0 ? types : null, organizationId })
  const sent = events.filter((event) => !ECHOES.includes(event.type) && matches(event))
  const messages = await mapInTurns(db, sent, (event) => createMessage(event, follower))
  if (messages.length > 0 || replayUntil !== null)
    await advanceWebhook(db, { ...move, to, isResumed, messages })
  else pass(id, position, to)
  return isResumed || events.length === room || read.length === FOLLOWED_BATCH
    ? 'now'
    : hidden
      ? 'soon'
      : 'idle'
}

/**
 * Makes a message of each event that a webhook is for, exactly once for any number of processes. The returned function stops
 * it and resolves when nothing is being written.
 */
export const startWebhookFollowing = (): (() => Promise<void>) =>
  startFollowing<Follower>({
    table: 'Webhook',
    selectTenants: selectWebhookTenants,
    selectFollowers,
    advance,
    passEvents,
  })
