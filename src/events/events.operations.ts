import type * as z from 'zod'
import type { Ctx } from '../context/context.ts'
import { defineList } from '../operations/list.ts'
import { defineResource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import { DIRECTION } from '../schema/lists.ts'
import { EventInterface } from './event-types.graphql.ts'
import { EVENT_FILTER, EventShape } from './list.fields.ts'
import { getSubjectIds, listEvents } from './list.ts'
import type { LogEvent } from './log.ts'

/** The JSON body of an event. */
function toEventBody({ scopes }: Ctx, event: LogEvent): z.input<typeof EventShape> {
  const { actorUserId, actorClientId, actorApiKeyId, actorTenantId } = event
  const ip = scopes.has('events:read') ? event.ip : null
  const actor = {
    userId: actorUserId,
    clientId: actorClientId,
    apiKeyId: actorApiKeyId,
    tenantId: actorTenantId,
    ip,
  }
  return {
    id: event.id,
    position: event.position,
    type: event.type,
    occurredAt: event.occurredAt.toISOString(),
    actor: actorUserId || actorClientId || actorApiKeyId || event.ip ? actor : null,
    requestId: event.requestId,
    deviceId: event.deviceId,
    userId: event.userId,
    sessionId: event.sessionId,
    organizationId: event.organizationId,
    subjectIds: getSubjectIds(event),
    changedFields: event.changedFields,
    detail: event.detail,
  }
}

export const EVENT = defineResource<LogEvent>({
  member: 'event',
  ref: EventInterface as never,
  scope: 'events:read',
  shape: EventShape,
  toBody: toEventBody,
  isByCursor: true,
})

export const eventOperations: readonly RestRoute[] = defineList({
  name: 'listEvents',
  inOrganization: true,
  summary:
    "The tenant's event log: what happened, when, and by whom. The `position` of an event is its cursor in every list, and where a subscription starts.",
  resource: EVENT,
  filter: EVENT_FILTER,
  order: DIRECTION,
  path: '/events',
  run: listEvents,
})
