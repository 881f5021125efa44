import { parseEventTypes } from '../audit/event-list.ts'
import type { Scope } from '../ctx.ts'
import { encodePosition, type LogEvent } from '../events.ts'
import { builder } from './builder.ts'
import { type GraphQLContext, ownUserId } from './context.ts'
import {
  EventInterface,
  GAP,
  SessionChange,
  SessionEventType,
  UserLockChange,
} from './event-types.graphql.ts'
import { requireId } from './node.graphql.ts'
import { scoped, scopedOrOwnUser } from './scoped.ts'
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
  const wanted = parseEventTypes(types)
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
