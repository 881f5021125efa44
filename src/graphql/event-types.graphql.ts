import { subjectIdsOf } from '../audit/event-list.ts'
import { END_REASONS, type EndReason, type LogEvent } from '../events.ts'
import { builder } from './builder.ts'
import { type GraphQLContext, isOwn } from './context.ts'
import { ClientRef, SessionRef, UserRef } from './refs.ts'
import { open, scoped, scopedOrOwn } from './scoped.ts'

/** The type of the entry that stands for entries that retention removed. */
export const GAP = 'gap'

export const SessionEventType = builder.enumType('SessionEventType', {
  description: 'What happened to a session.',
  values: {
    STARTED: { value: 'session.started', description: 'It was started.' },
    REFRESHED: { value: 'session.refreshed', description: 'Its expiry was moved, or its token rotated.' },
    ENDED: { value: 'session.ended', description: 'It ended.' },
  } as const,
})

const SessionEndReason = builder.enumType('SessionEndReason', {
  description: 'Why a session ended.',
  values: {
    LOGOUT: { value: 'logout', description: 'The person signed out.' },
    REVOKED: { value: 'revoked', description: 'Somebody revoked it.' },
    LOCKED: { value: 'locked', description: 'The user was locked.' },
    DELETED: { value: 'deleted', description: 'The user was deleted.' },
    EXPIRED: { value: 'expired', description: 'Its time was over.' },
  } as const,
})

const UserLockEventType = builder.enumType('UserLockEventType', {
  description: 'What happened to a user.',
  values: {
    LOCKED: { value: 'user.locked', description: 'The user was locked.' },
    UNLOCKED: { value: 'user.unlocked', description: 'The user was unlocked.' },
  } as const,
})

/** Addresses of others are for auditors; one's own is one's own. */
const maySeeIp = (event: LogEvent, context: GraphQLContext): boolean =>
  context.ctx.scopes.has('events:read') || isOwn(context, event.actorUserId)

const Actor = builder.objectRef<LogEvent>('Actor').implement({
  ...open(
    'Who did it, and from where: a person, a client, or somebody unknown (then only the address is told).',
  ),
  fields: (t) => ({
    userId: t.id({ nullable: true, description: 'Id of the person.', resolve: (event) => event.actorUserId }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The person, while there.',
      resolve: (event, _args, { loaders }) =>
        event.actorUserId ? loaders.user.load(event.actorUserId) : null,
    }),
    clientId: t.id({
      nullable: true,
      description: 'Id of the client.',
      resolve: (event) => event.actorClientId,
    }),
    client: t.field({
      type: ClientRef,
      nullable: true,
      description: 'The client, while there.',
      resolve: (event, _args, { loaders }) =>
        event.actorClientId && !event.actorTenantId ? loaders.client.load(event.actorClientId) : null,
    }),
    tenantId: t.id({
      nullable: true,
      description: "Tenant of the actor, when an operator acted; null for the tenant's own.",
      resolve: (event) => event.actorTenantId,
    }),
    ip: t.string({
      nullable: true,
      description: 'Address of the request. Only with scope events:read, or where it is one’s own.',
      resolve: (event, _args, context) => (maySeeIp(event, context) ? event.ip : null),
    }),
  }),
})

export const EventInterface = builder.interfaceRef<LogEvent>('Event').implement({
  ...open("One entry of the tenant's append-only log."),
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id of the entry.' }),
    position: t.exposeString('position', { description: 'Where it stands in the log: what `after` takes.' }),
    type: t.exposeString('type', { description: 'What happened, such as session.started.' }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When it happened.' }),
    actor: t.field({
      type: Actor,
      nullable: true,
      description: 'Who did it; null for the platform itself.',
      resolve: actorOf,
    }),
    requestId: t.exposeString('requestId', { nullable: true, description: 'Which request did it.' }),
  }),
  resolveType: typeNameOf,
})

function actorOf(event: LogEvent): LogEvent | null {
  return event.actorUserId || event.actorClientId || event.ip ? event : null
}

function typeNameOf({ type }: LogEvent): string {
  if (type === GAP) return 'EventGap'
  if (type.startsWith('session.')) return 'SessionEvent'
  return type === 'user.locked' || type === 'user.unlocked' ? 'UserLockEvent' : 'AuditEvent'
}

const userOf = (event: LogEvent, { loaders }: GraphQLContext) =>
  event.userId ? loaders.user.load(event.userId) : null

const SessionEvent = builder.objectRef<LogEvent>('SessionEvent').implement({
  ...scopedOrOwn(
    ['sessions:read', 'events:read'],
    'A session was started, refreshed or ended.',
    (event) => event.userId,
  ),
  interfaces: [EventInterface],
  fields: (t) => ({
    kind: t.field({
      type: SessionEventType,
      description: 'What happened to the session.',
      resolve: (event) => event.type as 'session.started',
    }),
    reason: t.field({
      type: SessionEndReason,
      nullable: true,
      description: 'Why it ended, when it did.',
      resolve: ({ detail }) =>
        END_REASONS.find((reason): reason is EndReason => reason === detail?.reason) ?? null,
    }),
    sessionId: t.id({ description: 'Id of the session.', resolve: (event) => event.sessionId ?? '' }),
    session: t.field({
      type: SessionRef,
      nullable: true,
      description: 'The session as it is now; null once it has ended.',
      resolve: (event, _args, { loaders }) =>
        event.sessionId ? loaders.session.load(event.sessionId) : null,
    }),
    userId: t.id({ description: 'Id of the user.', resolve: (event) => event.userId ?? '' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user as they are now; null once deleted.',
      resolve: (event, _args, context) => userOf(event, context),
    }),
  }),
})

const UserLockEvent = builder.objectRef<LogEvent>('UserLockEvent').implement({
  ...scopedOrOwn(['users:read', 'events:read'], 'A user was locked or unlocked.', (event) => event.userId),
  interfaces: [EventInterface],
  fields: (t) => ({
    kind: t.field({
      type: UserLockEventType,
      description: 'What happened to the user.',
      resolve: (event) => event.type as 'user.locked',
    }),
    userId: t.id({ description: 'Id of the user.', resolve: (event) => event.userId ?? '' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user as they are now; null once deleted.',
      resolve: (event, _args, context) => userOf(event, context),
    }),
  }),
})

builder.objectRef<LogEvent>('AuditEvent').implement({
  ...scoped('events:read', 'Every other kind of entry: what happened to which subjects.'),
  interfaces: [EventInterface],
  fields: (t) => ({
    subjectIds: t.idList({
      description: 'Ids of what it happened to: user, session, and further things.',
      resolve: subjectIdsOf,
    }),
    changedFields: t.exposeStringList('changedFields', {
      description: 'Names of the fields that changed; no values.',
    }),
    detail: t.expose('detail', {
      type: 'JSONObject',
      nullable: true,
      description: 'What else is told of this type.',
    }),
  }),
})

const EventGap = builder.objectRef<LogEvent>('EventGap').implement({
  ...open(
    'Entries between the requested position and the oldest kept one are gone; what follows starts here.',
  ),
  interfaces: [EventInterface],
})

export const SessionChange = builder.unionType('SessionChange', {
  description: 'News of a session, or that older news are gone.',
  types: [SessionEvent, EventGap],
  resolveType: typeNameOf,
})

export const UserLockChange = builder.unionType('UserLockChange', {
  description: 'A user was locked or unlocked, or older news are gone.',
  types: [UserLockEvent, EventGap],
  resolveType: typeNameOf,
})
