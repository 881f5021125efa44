import { isAdministered } from '../context/administered-organization.ts'
import type { Scope } from '../core/scopes.ts'
import { builder } from '../graphql/builder.ts'
import { findOwnUserId, type GraphQLContext } from '../graphql/context.ts'
import { orAdministratorOfArgument, withScope, withScopeOrOwnUser } from '../graphql/field-access.ts'
import { requireNodeId } from '../graphql/node.graphql.ts'
import { getEnumType } from '../graphql/shape-fields.ts'
import { encodePosition } from '../model/event-position.ts'
import { getShapeDescription } from '../schema/schema-descriptions.ts'
import {
  EventInterface,
  GAP_TYPE,
  MembershipChange,
  OrganizationChange,
  SessionChange,
  SessionEventType,
  UserLockChange,
} from './event-types.graphql.ts'
import { EVENT_FILTER, EVENT_TYPE } from './list.fields.ts'
import { createEventMatcher } from './list.ts'
import type { LogEvent } from './log.ts'
import { type Followed, subscribeToLog } from './log-subscription.graphql.ts'
import { getView } from './types.ts'

export const AFTER_DESCRIPTION =
  'Position to resume from: all later events follow, each once. Omitted: only new events. A Last-Event-ID header takes precedence.'

/**
 * The user that a subscription is about: `userId`, or the caller itself without the scope; null for all
 * users.
 */
function resolveSubject(
  context: GraphQLContext,
  scope: Scope,
  userId: string | null | undefined,
): string | null {
  if (userId) return requireNodeId('user', userId, 'userId')
  return context.ctx.scopes.has(scope) ? null : findOwnUserId(context)
}

/** What a subscription to events resolves to. */
export function toLogEvent(followed: Followed): LogEvent {
  if ('event' in followed) return followed.event
  const position = encodePosition(followed.gap)
  const noActor = { actorTenantId: null, actorUserId: null, actorClientId: null, actorApiKeyId: null }
  const noRequest = { ip: null, deviceId: null, requestId: null }
  const noSubject = { userId: null, sessionId: null, organizationId: null, subjectIds: [] }
  return {
    ...noActor,
    ...noRequest,
    ...noSubject,
    changedFields: [],
    detail: null,
    id: `${GAP_TYPE}:${position}`,
    type: GAP_TYPE,
    position,
    occurredAt: new Date(),
  }
}

builder.subscriptionField('sessionChanged', (t) =>
  t.field({
    ...withScopeOrOwnUser('sessions:read', 'Starts, repeated sign-ins, refreshes and ends of sessions.'),
    type: SessionChange,
    args: {
      userId: t.arg.id({ description: "Only of this user. Omitted without the scope: the caller's own." }),
      kinds: t.arg({ type: [SessionEventType], description: 'Only events of these kinds.' }),
      after: t.arg.string({ description: AFTER_DESCRIPTION }),
    },
    subscribe: (_root, { userId, kinds, after }, context) => {
      const subject = resolveSubject(context, 'sessions:read', userId)
      const wanted = kinds && new Set<string>(kinds)
      const isWanted = (type: string) => wanted?.has(type) ?? getView(type) === 'SessionEvent'
      return subscribeToLog(
        context,
        after,
        (event) => isWanted(event.type) && (subject === null || event.userId === subject),
      )
    },
    resolve: toLogEvent,
  }),
)

builder.subscriptionField('userLockChanged', (t) =>
  t.field({
    ...withScopeOrOwnUser('users:read', 'Locks and unlocks of users.'),
    type: UserLockChange,
    args: {
      userId: t.arg.id({ description: "Only this user. Omitted without the scope: the caller's own." }),
      after: t.arg.string({ description: AFTER_DESCRIPTION }),
    },
    subscribe: (_root, { userId, after }, context) => {
      const subject = resolveSubject(context, 'users:read', userId)
      return subscribeToLog(
        context,
        after,
        (event) => getView(event.type) === 'UserLockEvent' && (subject === null || event.userId === subject),
      )
    },
    resolve: toLogEvent,
  }),
)

builder.subscriptionField('organizationChanged', (t) =>
  t.field({
    ...orAdministratorOfArgument(
      withScope('organizations:read', 'Creations, changes and deletions of organizations.'),
    ),
    type: OrganizationChange,
    args: {
      organizationId: t.arg.id({ description: 'Only this organization.' }),
      after: t.arg.string({ description: AFTER_DESCRIPTION }),
    },
    subscribe: (_root, { organizationId, after }, context) => {
      const wanted = organizationId && requireNodeId('organization', organizationId, 'organizationId')
      return subscribeToLog(
        context,
        after,
        (event) =>
          getView(event.type) === 'OrganizationEvent' && (!wanted || event.organizationId === wanted),
      )
    },
    resolve: toLogEvent,
  }),
)

builder.subscriptionField('membershipChanged', (t) =>
  t.field({
    ...orAdministratorOfArgument(
      withScopeOrOwnUser(
        'organizations:read',
        'Beginnings, changes and ends of memberships, also by the deletion of the organization or the user.',
      ),
    ),
    type: MembershipChange,
    args: {
      userId: t.arg.id({ description: "Only of this user. Omitted without the scope: the caller's own." }),
      organizationId: t.arg.id({ description: 'Only in this organization.' }),
      after: t.arg.string({ description: AFTER_DESCRIPTION }),
    },
    subscribe: (_root, { userId, organizationId, after }, context) => {
      const subject =
        isAdministered(context.ctx, organizationId) && !userId
          ? null
          : resolveSubject(context, 'organizations:read', userId)
      const wanted = organizationId && requireNodeId('organization', organizationId, 'organizationId')
      return subscribeToLog(
        context,
        after,
        (event) =>
          getView(event.type) === 'MembershipEvent' &&
          (subject === null || event.userId === subject) &&
          (!wanted || event.organizationId === wanted),
      )
    },
    resolve: toLogEvent,
  }),
)

builder.subscriptionField('events', (t) =>
  t.field({
    ...orAdministratorOfArgument(withScope('events:read', 'All events of the tenant.')),
    type: EventInterface,
    args: {
      types: t.arg({
        type: [getEnumType(EVENT_TYPE.shape)],
        description: getShapeDescription(EVENT_FILTER.shape.shape.types),
      }),
      subjectId: t.arg.id({ description: getShapeDescription(EVENT_FILTER.shape.shape.subjectId) }),
      organizationId: t.arg.id({
        description: getShapeDescription(EVENT_FILTER.shape.shape.organizationId),
      }),
      ip: t.arg.string({ description: getShapeDescription(EVENT_FILTER.shape.shape.ip) }),
      after: t.arg.string({ description: AFTER_DESCRIPTION }),
    },
    subscribe: (_root, { after, ...filter }, context) =>
      subscribeToLog(context, after, createEventMatcher(filter)),
    resolve: toLogEvent,
  }),
)
