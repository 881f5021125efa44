import { EVENTS_TOPIC, subscribe } from '../coordination/bus.ts'
import { newId } from '../core/crypto.ts'
import { errorMessage } from '../core/error-message.ts'
import { log } from '../core/log.ts'
import type { Scope } from '../core/scopes.ts'
import { Handle } from '../database/handle.ts'
import { onInserted } from '../database/insertions.ts'
import { system } from '../database/system.ts'
import { toEventBody } from '../events/event-body.ts'
import { createEventMatcher, getSubjectIds } from '../events/list.ts'
import { type LogEvent, readEvents, readHead } from '../events/log.ts'
import type { EventType } from '../events/types.ts'
import { comparePositions, decodePosition, encodePosition, type Position } from '../model/event-position.ts'
import {
  advanceWebhook,
  type Follower,
  type NewMessage,
  passEvents,
  selectFollowers,
  selectWebhookTenants,
} from './webhooks.sql.ts'

/** Events that one read fetches. */
const BATCH = 250
/** How often webhooks and events of other processes are looked for. */
const POLL_MS = 3000
/** While events are hidden behind an open transaction, or the messages of a receiver that answers wait. */
const SOON_MS = 100

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

/** The log of a tenant as one round reads it: webhooks at one position share a read. */
type Reading = {
  trimmedTo: Position | null
  readAfter: (position: string) => ReturnType<typeof readEvents>
  /** Webhooks to which none of the events are sent, by the positions: they move together. */
  passing: Map<string, { ids: string[]; from: string; to: string }>
}

async function openReading(db: Handle): Promise<Reading> {
  const { trimmedTo } = await readHead(db)
  const reads = new Map<string, ReturnType<typeof readEvents>>()
  return {
    trimmedTo,
    passing: new Map(),
    readAfter: (position) => {
      const read = reads.get(position) ?? readEvents(db, decodePosition(position), BATCH)
      reads.set(position, read)
      return read
    },
  }
}

const isAfter = (position: string, other: string): boolean =>
  comparePositions(decodePosition(position), decodePosition(other)) > 0

/** Makes the next messages of a webhook. Returns whether it should be called again, at once or after a while. */
async function advance(
  db: Handle,
  follower: Follower,
  { trimmedTo, readAfter, passing }: Reading,
): Promise<'now' | 'soon' | 'idle'> {
  const { id, types, organizationId, position, replayUntil, resumePosition, isFailing } = follower
  const move = { id, from: position, until: replayUntil }
  const room = Math.min(follower.room, BATCH)
  if (room <= 0) return isFailing ? 'idle' : 'soon'
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
    (wanted.length < read.length || (read.length < BATCH && !hidden))
  const to = isResumed ? resumePosition : events.at(-1)?.position
  if (!to) return hidden ? 'soon' : 'idle'
  const matches = createEventMatcher({ types: types.length > 0 ? types : null, organizationId })
  const messages = events
    .filter((event) => !ECHOES.includes(event.type) && matches(event))
    .map((event) => createMessage(event, follower))
  if (messages.length > 0 || replayUntil !== null)
    await advanceWebhook(db, { ...move, to, isResumed, messages })
  else {
    const key = `${position} ${to}`
    const pass = passing.get(key) ?? { ids: [], from: position, to }
    passing.set(key, pass)
    pass.ids.push(id)
  }
  return isResumed || events.length === room || read.length === BATCH ? 'now' : hidden ? 'soon' : 'idle'
}

/**
 * Follows the logs of the tenants that have webhooks: makes a message of each event that a webhook is for, exactly once for
 * any number of processes. The returned function stops it and resolves when nothing is being written.
 */
export function startWebhookFollowing(): () => Promise<void> {
  /** Tenants with a webhook. A tenant without one costs nothing per event. */
  let tenants = new Set<string>()
  const due = new Set<string>()
  let isStopped = false
  let working: Promise<void> | null = null
  const timers = new Set<NodeJS.Timeout>()

  const wakeLater = (tenant: string): void => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      wake(tenant)
    }, SOON_MS).unref()
    timers.add(timer)
  }

  const followTenant = async (tenant: string): Promise<void> => {
    const db = new Handle({ tenant })
    const followers = await selectFollowers(db)
    if (followers.length === 0) return
    const reading = await openReading(db)
    for (const follower of followers) {
      if (isStopped) return
      const next = await advance(db, follower, reading)
      if (next === 'now') due.add(tenant)
      else if (next === 'soon') wakeLater(tenant)
    }
    for (const pass of reading.passing.values()) await passEvents(db, pass)
  }

  const work = async (): Promise<void> => {
    for (const tenant of due) {
      if (isStopped) return
      due.delete(tenant)
      await followTenant(tenant).catch((error: unknown) =>
        log.warn({ tenant, err: errorMessage(error) }, 'the log cannot be followed for webhooks'),
      )
    }
  }

  const start = (): void => {
    working ??= work().finally(() => {
      working = null
      if (due.size > 0 && !isStopped) start()
    })
  }

  const wake = (tenant: string): void => {
    if (isStopped || !tenants.has(tenant)) return
    due.add(tenant)
    start()
  }

  const findTenants = async (): Promise<void> => {
    tenants = new Set(await selectWebhookTenants(system))
    for (const tenant of tenants) wake(tenant)
  }

  let poll: NodeJS.Timeout | undefined
  let polling: Promise<void> = Promise.resolve()
  const repeat = (): void => {
    polling = findTenants()
      .catch((error: unknown) => log.warn({ err: errorMessage(error) }, 'cannot look for webhooks'))
      .then(() => {
        if (!isStopped) poll = setTimeout(repeat, POLL_MS * (0.75 + Math.random() / 2)).unref()
      })
  }

  const stopListening = [
    subscribe(EVENTS_TOPIC, wake),
    onInserted('Webhook', (tenant) => {
      tenants.add(tenant)
      wake(tenant)
    }),
  ]
  repeat()
  return async () => {
    isStopped = true
    clearTimeout(poll)
    for (const timer of timers) clearTimeout(timer)
    for (const stop of stopListening) stop()
    await polling
    await working
  }
}
