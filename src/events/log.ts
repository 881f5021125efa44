import type { Ctx } from '../context/context.ts'
import { EVENTS_TOPIC } from '../coordination/bus.ts'
import { publishCoalesced } from '../coordination/coalesced-messages.ts'
import { newId } from '../core/crypto.ts'
import type { Db } from '../database/handle.ts'
import { onInserted } from '../database/insertions.ts'
import type { Position } from '../model/event-position.ts'
import { createInvalidPositionError, decodePosition, encodePosition } from '../model/event-position.ts'
import type { NewEvent } from './create-event.ts'
import type { EventRow } from './log.sql.ts'
import { insertEvents, selectEvents, selectHead } from './log.sql.ts'

/** An event of the log. `position` orders the log and is a value for `after`. */
export type LogEvent = Omit<EventRow, 'era' | 'xid' | 'seq'> & { position: string }

/** Creates the row of an event for `buildInsertEventsSql`: actor, origin and event as one JSON object. */
export function createEventRow(ctx: Ctx, event: NewEvent): object {
  const { actor } = ctx
  const isUser = actor.kind === 'user'
  const isKey = actor.kind === 'key'
  return {
    id: newId('event'),
    type: event.type,
    actorTenantId:
      isUser || actor.kind === 'client' ? (actor.tenant === ctx.tenant ? null : actor.tenant) : null,
    actorUserId: isUser ? actor.userId : null,
    actorClientId: isUser || actor.kind === 'client' ? actor.clientId : null,
    actorApiKeyId: isUser || isKey ? (actor.apiKeyId ?? null) : null,
    ip: ctx.ip,
    deviceId: ctx.deviceId ?? null,
    requestId: ctx.requestId,
    userId: event.userId ?? null,
    sessionId: event.sessionId ?? null,
    organizationId: event.organizationId ?? null,
    subjectIds: event.subjectIds ?? [],
    changedFields: event.changedFields ?? [],
    detail: event.detail ?? null,
    // The input syntax of bytea.
    addressHash: event.addressHash ? `\\x${event.addressHash.toString('hex')}` : null,
  }
}

/** Records events in the transaction of the change: one statement. Readers wake after the commit. */
export async function recordEvents(db: Db, ctx: Ctx, events: NewEvent[]): Promise<void> {
  if (events.length > 0)
    await insertEvents(
      db,
      events.map((event) => createEventRow(ctx, event)),
    )
}

// Wakes readers after the commit.
onInserted('Event', (tenant) => publishCoalesced(EVENTS_TOPIC, tenant))

/** Converts a row to an event with its encoded position. */
export const toLogEvent = ({ era, xid, seq, ...row }: EventRow): LogEvent => ({
  ...row,
  position: encodePosition({ era, xid: BigInt(xid), seq: BigInt(seq) }),
})

/**
 * Reads events after a position, oldest first. Consecutive reads neither skip nor repeat an event, even when
 * transactions commit in another order: events of transactions that started after the oldest open one stay
 * invisible until that one has ended. `hidden` is true when there are such events. Throws InvalidInput for a
 * position that no event can have yet.
 */
export async function readEvents(
  db: Db,
  after: Position,
  limit: number,
): Promise<{ events: LogEvent[]; hidden: boolean }> {
  const { rows, hidden, isFuture } = await selectEvents(db, after, limit)
  if (isFuture) throw createInvalidPositionError()
  return { events: rows.map(toLogEvent), hidden }
}

/**
 * Returns the position of the newest visible event, and the position up to which retention has removed
 * events.
 */
export async function readHead(db: Db): Promise<{ head: Position; trimmedTo: Position | null }> {
  const row = await selectHead(db)
  return {
    head: { era: row.era, xid: BigInt(row.xid), seq: BigInt(row.seq) },
    trimmedTo: row.trimmedTo ? decodePosition(row.trimmedTo) : null,
  }
}
