import type { Handle } from '../database/handle.ts'
import {
  countTaken,
  FOLLOWED_BATCH,
  type LogReading,
  type NextTurn,
  startFollowing,
} from '../events/follow-log.ts'
import { comparePositions, decodePosition, encodePosition } from '../model/event-position.ts'
import { buildSignals, isSource, type SourceEvent } from './build-signals.ts'
import { listDelivered } from './signal-types.ts'
import {
  advanceStream,
  type Follower,
  type NewToken,
  passEvents,
  selectAudience,
  selectClaimsUsers,
  selectFollowers,
  selectFormerAddresses,
  selectStreamTenants,
} from './streams.sql.ts'
import { createToken } from './tokens.ts'

/** What the signals of changed users say besides: three statements for a batch, none without such events. */
async function readDetails(db: Handle, events: readonly SourceEvent[]) {
  const updated = [
    ...new Set(events.filter(({ type }) => type === 'user.updated').map(({ userId }) => userId)),
  ]
  if (updated.length === 0) return { users: [], addresses: [] }
  const [users, addresses] = await Promise.all([
    selectClaimsUsers(db, updated),
    selectFormerAddresses(db, updated),
  ])
  return { users, addresses }
}

/** The tokens of a stream for events of the log: about the users whom it is for, of the types that it has. */
async function buildTokens(
  db: Handle,
  follower: Follower,
  events: readonly SourceEvent[],
): Promise<NewToken[]> {
  if (events.length === 0) return []
  const audience = await selectAudience(db, follower, [...new Set(events.map(({ userId }) => userId))])
  const scopesById = new Map(audience.map(({ id, scopes }) => [id, scopes]))
  const own = events.filter(({ userId }) => scopesById.has(userId))
  const { users, addresses } = await readDetails(db, own)
  const delivered = listDelivered(follower.eventsRequested)
  return own.flatMap((event) => {
    const { userId, position, requestId } = event
    const xid = String(decodePosition(position).xid)
    const about = {
      scopes: scopesById.get(userId) ?? [],
      user: users.find(({ id }) => id === userId) ?? null,
    }
    const former = addresses.filter((address) => address.userId === userId && address.xid === xid)
    return buildSignals(db.tenant, event, about, former)
      .filter(({ type }) => delivered.includes(type))
      .map((signal) => createToken(signal, userId, requestId ?? event.id))
  })
}

/** Makes the next tokens of a stream. */
async function advance(
  db: Handle,
  follower: Follower,
  { trimmedTo, readAfter, pass }: LogReading,
): Promise<NextTurn> {
  const { id, position, isFailing, delivery } = follower
  if (trimmedTo && comparePositions(decodePosition(position), trimmedTo) < 0) {
    const to = encodePosition(trimmedTo)
    const error = 'Events were removed by retention before they were sent.'
    await advanceStream(db, { id, from: position, to, error, tokens: [] })
    return 'now'
  }
  // An event is three signals at most: its claims, and two addresses.
  const room = countTaken(follower, 3)
  if (room === 0) return isFailing || delivery === 'poll' ? 'idle' : 'soon'
  const { events: read, hidden } = await readAfter(position)
  const events = read.slice(0, room)
  const to = events.at(-1)?.position
  if (!to) return hidden ? 'soon' : 'idle'
  const tokens = await buildTokens(db, follower, events.filter(isSource))
  if (tokens.length > 0) await advanceStream(db, { id, from: position, to, error: null, tokens })
  else pass(id, position, to)
  return events.length === room || read.length === FOLLOWED_BATCH ? 'now' : hidden ? 'soon' : 'idle'
}

/**
 * Makes the tokens of the streams of all tenants, each once for any number of processes. The returned function stops it and
 * resolves when nothing is being written.
 */
export const startSignalFollowing = (): (() => Promise<void>) =>
  startFollowing<Follower>({
    table: 'SignalStream',
    selectTenants: selectStreamTenants,
    selectFollowers,
    advance,
    passEvents,
  })
