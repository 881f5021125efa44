import { publish } from './bus.ts'
import { newId } from './crypto.ts'
import type { Ctx } from './ctx.ts'
import type { Sql } from './db.ts'
import { sql } from './db.ts'
import { InvalidInput } from './errors.ts'
import { type EventRow, insertEvents, selectEvents, selectHead } from './events.sql.ts'

/** Everything that the log tells of. A new kind of entry is one line here. */
export const EVENT_TYPES = [
  'user.created',
  'user.updated',
  'user.locked',
  'user.unlocked',
  'user.deleted',
  'session.started',
  'session.refreshed',
  'session.ended',
  'passcode.sent',
  'passcode.failed',
  'grant.created',
  'grant.refreshed',
  'grant.revoked',
  'consent.granted',
  'consent.revoked',
  'device.approved',
  'device.denied',
  'credential.enrollment_created',
  'credential.enrollment_failed',
  'credential.enrolled',
  'credential.revoked',
  'signin.failed',
  'authorize.refused',
  'token.refused',
  'client.created',
  'client.updated',
  'client.deleted',
  'registration_token.created',
  'registration_token.revoked',
  'idp.created',
  'idp.updated',
  'idp.deleted',
  'idpuser.added',
  'idpuser.linked',
  'idpuser.updated',
  'idpuser.unlinked',
  'role.changed',
  'tenant.created',
  'tenant.updated',
  'tenant.deleted',
  'key.rotated',
  'logout.delivered',
  'logout.delayed',
  'logout.failed',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** Why a session ended. */
export const END_REASONS = ['logout', 'revoked', 'locked', 'deleted', 'expired'] as const
export type EndReason = (typeof END_REASONS)[number]

/** What a service says of a change. Names of changed fields only: values of personal data stay out of the log. */
export type NewEvent = {
  type: EventType
  userId?: string | null
  sessionId?: string | null
  /** Further things that the change is about: clients, credentials, links. */
  subjectIds?: string[]
  changedFields?: string[]
  detail?: Record<string, string | number | boolean | null>
}

/** An entry as it is read. `position` orders the log and is what `after` takes. */
export type LogEvent = Omit<EventRow, 'era' | 'xid' | 'seq'> & { position: string }

/** A row for the insert statements of *.sql.ts: who, from where and what, as one JSON object. */
export function toEventRow(ctx: Ctx, event: NewEvent): object {
  const { actor } = ctx
  const isUser = actor.kind === 'user'
  return {
    id: newId('event'),
    type: event.type,
    actorTenantId:
      isUser || actor.kind === 'client' ? (actor.tenant === ctx.tenant ? null : actor.tenant) : null,
    actorUserId: isUser ? actor.userId : null,
    actorClientId: isUser || actor.kind === 'client' ? actor.clientId : null,
    ip: ctx.ip,
    requestId: ctx.requestId,
    userId: event.userId ?? null,
    sessionId: event.sessionId ?? null,
    subjectIds: event.subjectIds ?? [],
    changedFields: event.changedFields ?? [],
    detail: event.detail ?? null,
  }
}

/** Writes entries in the transaction of the change (`sqlOf(tx)` or the `sql` of `inTransaction`): one statement. */
export async function recordEvents(sql: Sql, ctx: Ctx, events: NewEvent[]): Promise<void> {
  if (events.length > 0)
    await insertEvents(
      sql,
      ctx.tenant,
      events.map((event) => toEventRow(ctx, event)),
    )
}

/** The topic that readers of a tenant's log are woken by. */
export const WAKE_TOPIC = 'events'

/** Wakes readers of the tenant's log. Call it after the transaction has committed. */
export const wakeReaders = (tenant: string): void => publish(WAKE_TOPIC, tenant)

/** Where in the log a reader stands: after all entries up to here, in the order (era, xid, seq). */
export type Position = { era: number; xid: bigint; seq: bigint }

export const encodePosition = (at: Position): string =>
  Buffer.from(`${at.era}.${at.xid}.${at.seq}`).toString('base64url')

const MAX_BIGINT = 2n ** 63n - 1n

/** Reads a position that a caller sent; throws InvalidInput about `after` when it is none. */
export function decodePosition(text: string): Position {
  const match = /^(\d{1,9})\.(\d{1,19})\.(\d{1,19})$/.exec(Buffer.from(text, 'base64url').toString('latin1'))
  const at = match && { era: Number(match[1]), xid: BigInt(match[2] ?? 0), seq: BigInt(match[3] ?? 0) }
  if (!at || at.xid > MAX_BIGINT || at.seq > MAX_BIGINT || encodePosition(at) !== text) throw notAPosition()
  return at
}

const notAPosition = () =>
  new InvalidInput([{ field: 'after', description: 'is not a position of the event log' }])

export function comparePositions(a: Position, b: Position): number {
  if (a.era !== b.era) return a.era - b.era
  if (a.xid !== b.xid) return a.xid < b.xid ? -1 : 1
  return a.seq === b.seq ? 0 : a.seq < b.seq ? -1 : 1
}

/** A stored entry as it is read. */
export const toLogEvent = ({ era, xid, seq, ...row }: EventRow): LogEvent => ({
  ...row,
  position: encodePosition({ era, xid: BigInt(xid), seq: BigInt(seq) }),
})

/**
 * Reads entries after a position, oldest first. Never skips and never repeats one, whatever commits late: entries
 * of transactions that started after the oldest one still running stay hidden until that one has ended, and
 * `hidden` says that there are such. Throws InvalidInput for a position that no entry can have had yet.
 */
export async function readEvents(
  tenant: string,
  after: Position,
  limit: number,
): Promise<{ events: LogEvent[]; hidden: boolean }> {
  const { rows, hidden, isFuture } = await selectEvents(sql, tenant, after, limit)
  if (isFuture) throw notAPosition()
  return { events: rows.map(toLogEvent), hidden }
}

/** The position after every entry that readers can see now, and the one up to which retention removed entries. */
export async function readHead(tenant: string): Promise<{ head: Position; trimmedTo: Position | null }> {
  const row = await selectHead(sql, tenant)
  return {
    head: { era: row.era, xid: BigInt(row.xid), seq: BigInt(row.seq) },
    trimmedTo: row.trimmedTo ? decodePosition(row.trimmedTo) : null,
  }
}
