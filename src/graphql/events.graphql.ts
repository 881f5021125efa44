import type { Scope } from '../ctx.ts'
import { InvalidInput } from '../errors.ts'
import { decodePosition, EVENT_TYPES, encodePosition, type LogEvent, readEvents } from '../events.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../page.ts'
import { builder } from './builder.ts'
import { PageInfo } from './connection.ts'
import { type GraphQLContext, ownUserId } from './context.ts'
import {
  EventInterface,
  GAP,
  SessionChange,
  SessionEventType,
  UserLockChange,
} from './event-types.graphql.ts'
import { requireId } from './node.graphql.ts'
import { open, scoped, scopedOrOwnUser } from './scoped.ts'
import { type Followed, subscribeToLog } from './stream.ts'

const AFTER =
  'Position to go on from: everything after it comes first, each entry once. Omitted: from now on. A Last-Event-ID header goes before it.'

/** Which user's news a subscription is about: the one asked for; for callers without the scope, themselves. */
function subjectOf(context: GraphQLContext, scope: Scope, userId: string | null | undefined): string | null {
  if (userId) return requireId('user', userId, 'userId')
  return context.ctx.scopes.has(scope) ? null : ownUserId(context)
}

function entryOf(followed: Followed): LogEvent {
  if ('event' in followed) return followed.event
  const position = encodePosition(followed.gap)
  const nobody = { actorTenantId: null, actorUserId: null, actorClientId: null, ip: null, requestId: null }
  const nothing = { userId: null, sessionId: null, subjectIds: [], changedFields: [], detail: null }
  return { ...nobody, ...nothing, id: `${GAP}:${position}`, type: GAP, position, occurredAt: new Date() }
}

function typesOf(types: readonly string[] | null | undefined): (event: LogEvent) => boolean {
  if (!types) return () => true
  const wanted = new Set(types)
  const known = new Set<string>(EVENT_TYPES)
  const faults = types.flatMap((type, index) =>
    known.has(type) ? [] : [{ field: `types.${index}`, description: 'is not a type of event' }],
  )
  if (faults.length > 0) throw new InvalidInput(faults)
  return ({ type }) => wanted.has(type)
}

builder.subscriptionField('sessionChanged', (t) =>
  t.field({
    ...scopedOrOwnUser('sessions:read', 'Sessions are started, refreshed, ended.'),
    type: SessionChange,
    args: {
      userId: t.arg.id({ description: "Only of this user. Omitted without the scope: the caller's own." }),
      kinds: t.arg({ type: [SessionEventType], description: 'Only what is of these kinds.' }),
      after: t.arg.string({ description: AFTER }),
    },
    subscribe: (_root, { userId, kinds, after }, context) => {
      const subject = subjectOf(context, 'sessions:read', userId)
      const wanted = new Set<string>(kinds ?? ['session.started', 'session.refreshed', 'session.ended'])
      return subscribeToLog(
        context,
        after,
        (event) => wanted.has(event.type) && (subject === null || event.userId === subject),
      )
    },
    resolve: entryOf,
  }),
)

builder.subscriptionField('userLockChanged', (t) =>
  t.field({
    ...scopedOrOwnUser('users:read', 'Users are locked and unlocked.'),
    type: UserLockChange,
    args: {
      userId: t.arg.id({ description: "Only this user. Omitted without the scope: the caller's own." }),
      after: t.arg.string({ description: AFTER }),
    },
    subscribe: (_root, { userId, after }, context) => {
      const subject = subjectOf(context, 'users:read', userId)
      return subscribeToLog(
        context,
        after,
        ({ type, userId: of }) =>
          (type === 'user.locked' || type === 'user.unlocked') && (subject === null || of === subject),
      )
    },
    resolve: entryOf,
  }),
)

builder.subscriptionField('events', (t) =>
  t.field({
    ...scoped('events:read', "Everything that is written to the tenant's log."),
    type: EventInterface,
    args: {
      types: t.arg.stringList({ description: 'Only entries of these types, such as session.started.' }),
      after: t.arg.string({ description: AFTER }),
    },
    subscribe: (_root, { types, after }, context) => subscribeToLog(context, after, typesOf(types)),
    resolve: entryOf,
  }),
)

type EventPage = { events: LogEvent[]; hasNextPage: boolean; hasPreviousPage: boolean }

const EventEdge = builder.objectRef<LogEvent>('EventEdge').implement({
  ...open('One entry of an EventConnection.'),
  fields: (t) => ({
    cursor: t.exposeString('position', { description: 'Position of the entry.' }),
    node: t.field({ type: EventInterface, description: 'The entry.', resolve: (event) => event }),
  }),
})

const once = { field: 1, multiplier: 1 }

const EventConnection = builder.objectRef<EventPage>('EventConnection').implement({
  ...open('A page of the log, oldest first.'),
  fields: (t) => ({
    edges: t.field({
      type: [EventEdge],
      complexity: once,
      description: 'The entries, each with its cursor.',
      resolve: ({ events }) => events,
    }),
    nodes: t.field({
      type: [EventInterface],
      complexity: once,
      description: 'The entries.',
      resolve: ({ events }) => events,
    }),
    pageInfo: t.field({
      type: PageInfo,
      description: 'What precedes and follows the page.',
      resolve: ({ events, hasNextPage, hasPreviousPage }) => ({
        hasNextPage,
        hasPreviousPage,
        startCursor: events.at(0)?.position ?? null,
        endCursor: events.at(-1)?.position ?? null,
      }),
    }),
  }),
})

const BEGINNING = { era: 0, xid: 0n, seq: 0n }

builder.queryField('events', (t) =>
  t.field({
    ...scoped(
      'events:read',
      "The tenant's log, oldest first; `after` of the last page is where a subscription starts.",
    ),
    type: EventConnection,
    nullable: true,
    complexity: ({ first }) => ({ field: 1, multiplier: first ?? DEFAULT_PAGE_SIZE }),
    args: {
      first: t.arg.int({ description: 'At most this many entries; 1 to 1000, 50 when omitted.' }),
      after: t.arg.string({ description: 'Only entries after this position.' }),
    },
    resolve: async (_root, { first, after }, { ctx }): Promise<EventPage> => {
      const size = first ?? DEFAULT_PAGE_SIZE
      if (size < 1 || size > MAX_PAGE_SIZE)
        throw new InvalidInput([
          { field: 'first', description: `must be a whole number from 1 to ${MAX_PAGE_SIZE}` },
        ])
      const start = after ? decodePosition(after) : BEGINNING
      const { events } = await readEvents(ctx.tenant, start, size + 1)
      return {
        events: events.slice(0, size),
        hasNextPage: events.length > size,
        hasPreviousPage: Boolean(after),
      }
    },
  }),
)
