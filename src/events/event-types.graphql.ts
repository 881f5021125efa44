import { builder } from '../graphql/builder.ts'
import type { GraphQLContext } from '../graphql/context.ts'
import {
  orAdministrator,
  withAnyScope,
  withPublicAccess,
  withScope,
  withScopeOrOwner,
} from '../graphql/field-access.ts'
import { MembershipRef, OrganizationRef, SessionRef, UserRef } from '../graphql/object-refs.ts'
import { buildObjectFields, getEnumType } from '../graphql/shape-fields.ts'
import type { View } from './declare-event.ts'
import { Actor, toActor } from './event-actor.graphql.ts'
import { EVENT_TYPE, EventShape } from './list.fields.ts'
import { getSubjectIds } from './list.ts'
import type { LogEvent } from './log.ts'
import { type EndReason, SESSION_END_REASONS } from './reasons.ts'
import { EVENT_TYPES, EVENTS, type EventType, getView, isEventType } from './types.ts'

/** The type of the event that reports events removed by retention. */
export const GAP_TYPE = 'gap'

/** The enum of the types that a view has: `session.started` is STARTED. */
export const createKindType = (name: string, description: string, view: View) =>
  builder.enumType(name, {
    description,
    values: Object.fromEntries(
      EVENT_TYPES.filter((type) => getView(type) === view).map((type) => [
        type.slice(type.indexOf('.') + 1).toUpperCase(),
        { value: type, description: EVENTS[type].description },
      ]),
    ),
  })

export const SessionEventType = createKindType(
  'SessionEventType',
  'What happened to a session.',
  'SessionEvent',
)

const SessionEndReason = builder.enumType('SessionEndReason', {
  description: 'Why a session ended.',
  values: {
    LOGOUT: { value: 'logout', description: 'The user signed out.' },
    REVOKED: { value: 'revoked', description: 'It was revoked by a call or by the user.' },
    LOCKED: { value: 'locked', description: 'The user was locked.' },
    DELETED: { value: 'deleted', description: 'The user was deleted.' },
    EXPIRED: { value: 'expired', description: 'It expired.' },
  } as const,
})

const UserLockEventType = createKindType('UserLockEventType', 'What happened to a user.', 'UserLockEvent')

const { occurredAt, requestId, deviceId, changedFields, detail } = EventShape.shape

export const EventInterface = builder.interfaceRef<LogEvent>('Event').implement({
  ...withPublicAccess("An event of the tenant's append-only event log."),
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id of the event.' }),
    position: t.exposeString('position', { description: 'Position in the event log: a value for `after`.' }),
    type: t.field({
      type: getEnumType(EVENT_TYPE.shape),
      nullable: true,
      description:
        'What happened; null for a gap, and for a type of another version, which `typeName` names.',
      resolve: ({ type }) => (isEventType(type) ? type : null),
    }),
    typeName: t.exposeString('type', {
      description: 'The name of the type in REST, such as session.started.',
    }),
    actor: t.field({
      type: Actor,
      nullable: true,
      description: 'The user or client that caused it; null for the platform itself.',
      resolve: toActor,
    }),
    ...buildObjectFields(t as never, { occurredAt, requestId, deviceId }),
  }),
  resolveType: (event) => resolveEventType(event),
})

export const resolveEventType = ({ type }: LogEvent): string =>
  type === GAP_TYPE ? 'EventGap' : getView(type)

const loadEventUser = (event: LogEvent, { loaders }: GraphQLContext) =>
  event.userId ? loaders.user.load(event.userId) : null

const SessionEvent = builder.objectRef<LogEvent>('SessionEvent').implement({
  ...withScopeOrOwner(
    ['sessions:read', 'events:read'],
    'A session was started, refreshed or ended, or its user signed in again.',
    (event) => event.userId,
  ),
  interfaces: [EventInterface],
  fields: (t) => ({
    kind: t.field({
      type: SessionEventType,
      description: 'What happened to the session.',
      resolve: (event) => event.type as EventType,
    }),
    reason: t.field({
      type: SessionEndReason,
      nullable: true,
      description: 'Why the session ended; null for other events.',
      resolve: ({ detail }) =>
        SESSION_END_REASONS.find((reason): reason is EndReason => reason === detail?.reason) ?? null,
    }),
    sessionId: t.id({ description: 'Id of the session.', resolve: (event) => event.sessionId ?? '' }),
    session: t.field({
      type: SessionRef,
      nullable: true,
      description: 'The current session; null once it has ended.',
      resolve: (event, _args, { loaders }) =>
        event.sessionId ? loaders.session.load(event.sessionId) : null,
    }),
    userId: t.id({ description: 'Id of the user.', resolve: (event) => event.userId ?? '' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The current user; null once deleted.',
      resolve: (event, _args, context) => loadEventUser(event, context),
    }),
  }),
})

const UserLockEvent = builder.objectRef<LogEvent>('UserLockEvent').implement({
  ...withScopeOrOwner(
    ['users:read', 'events:read'],
    'A user was locked or unlocked.',
    (event) => event.userId,
  ),
  interfaces: [EventInterface],
  fields: (t) => ({
    kind: t.field({
      type: UserLockEventType,
      description: 'What happened to the user.',
      resolve: (event) => event.type as EventType,
    }),
    userId: t.id({ description: 'Id of the user.', resolve: (event) => event.userId ?? '' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The current user; null once deleted.',
      resolve: (event, _args, context) => loadEventUser(event, context),
    }),
  }),
})

const OrganizationEventType = createKindType(
  'OrganizationEventType',
  'What happened to an organization.',
  'OrganizationEvent',
)

const OrganizationEvent = builder.objectRef<LogEvent>('OrganizationEvent').implement({
  ...orAdministrator(
    withAnyScope(['organizations:read', 'events:read'], 'An organization was created, changed or deleted.'),
    ({ organizationId }: LogEvent) => organizationId,
  ),
  interfaces: [EventInterface],
  fields: (t) => ({
    kind: t.field({
      type: OrganizationEventType,
      description: 'What happened to the organization.',
      resolve: (event) => event.type as EventType,
    }),
    organizationId: t.id({
      description: 'Id of the organization.',
      resolve: ({ organizationId }) => organizationId ?? '',
    }),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The current organization; null once deleted.',
      resolve: ({ organizationId }, _args, { loaders }) =>
        organizationId ? loaders.organization.load(organizationId) : null,
    }),
    ...buildObjectFields(t as never, { changedFields, detail }),
  }),
})

const MembershipEventType = createKindType(
  'MembershipEventType',
  'What happened to a membership.',
  'MembershipEvent',
)

const MembershipEvent = builder.objectRef<LogEvent>('MembershipEvent').implement({
  ...orAdministrator(
    withScopeOrOwner(
      ['organizations:read', 'events:read'],
      'A user became a member of an organization, or a membership changed or ended.',
      (event: LogEvent) => event.userId,
    ),
    ({ organizationId }: LogEvent) => organizationId,
  ),
  interfaces: [EventInterface],
  fields: (t) => ({
    kind: t.field({
      type: MembershipEventType,
      description: 'What happened to the membership.',
      resolve: (event) => event.type as EventType,
    }),
    membershipId: t.id({
      description: 'Id of the membership.',
      resolve: ({ subjectIds }) => subjectIds[0] ?? '',
    }),
    membership: t.field({
      type: MembershipRef,
      nullable: true,
      description: 'The current membership; null once ended.',
      resolve: ({ subjectIds: [id] }, _args, { loaders }) => (id ? loaders.membership.load(id) : null),
    }),
    organizationId: t.id({
      description: 'Id of the organization.',
      resolve: ({ organizationId }) => organizationId ?? '',
    }),
    userId: t.id({ description: 'Id of the member.', resolve: (event) => event.userId ?? '' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The current user; null once deleted.',
      resolve: (event, _args, context) => loadEventUser(event, context),
    }),
    ...buildObjectFields(t as never, { changedFields, detail }),
  }),
})

builder.objectRef<LogEvent>('AuditEvent').implement({
  ...orAdministrator(
    withScope('events:read', 'Any other event, with its subjects.'),
    ({ organizationId }: LogEvent) => organizationId,
  ),
  interfaces: [EventInterface],
  fields: (t) => ({
    subjectIds: t.idList({
      description: 'Ids of its subjects: the user, the session, the organization, then other objects.',
      resolve: getSubjectIds,
    }),
    ...buildObjectFields(t as never, { changedFields, detail }),
  }),
})

export const EventGap = builder.objectRef<LogEvent>('EventGap').implement({
  ...withPublicAccess('Retention has removed the events between the requested position and this one.'),
  interfaces: [EventInterface],
})

export const SessionChange = builder.unionType('SessionChange', {
  description: 'An event of a session, or a gap.',
  types: [SessionEvent, EventGap],
  resolveType: resolveEventType,
})

export const UserLockChange = builder.unionType('UserLockChange', {
  description: 'A lock or unlock of a user, or a gap.',
  types: [UserLockEvent, EventGap],
  resolveType: resolveEventType,
})

export const OrganizationChange = builder.unionType('OrganizationChange', {
  description: 'An event of an organization, or a gap.',
  types: [OrganizationEvent, EventGap],
  resolveType: resolveEventType,
})

export const MembershipChange = builder.unionType('MembershipChange', {
  description: 'An event of a membership, or a gap.',
  types: [MembershipEvent, EventGap],
  resolveType: resolveEventType,
})
