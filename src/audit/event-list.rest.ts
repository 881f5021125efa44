import { z } from 'zod'
import type { LogEvent } from '../events.ts'
import { withOnward } from '../page.ts'
import { type RestRoute, restRoute } from '../rest/route.ts'
import { clientId, idOf, jsonObject, time } from '../shapes.ts'
import { EventOrder } from './event-list.fields.ts'
import { KnownEventFilter, listEvents, subjectIdsOf } from './event-list.ts'

const EventShape = z
  .object({
    id: idOf('event'),
    position: z.string().meta({
      description: 'Where it stands in the log: what `after` and `before` take, and subscriptions too.',
      example: 'MS43NDIuMQ',
    }),
    type: z.string().meta({ description: 'What happened.', example: 'user.updated' }),
    occurredAt: time.meta({ description: 'When it happened.' }),
    actor: z
      .object({
        userId: idOf('user').nullable().meta({ description: 'The person who did it.' }),
        clientId: clientId
          .nullable()
          .meta({ description: 'The client that did it, or that the person used.' }),
        tenantId: z
          .string()
          .nullable()
          .meta({ description: 'Tenant of an operator who did it; else null.', example: null }),
        ip: z.string().nullable().meta({ description: 'Address of the request.', example: '203.0.113.7' }),
      })
      .nullable()
      .meta({ description: 'Who did it, and from where; null for the platform itself.' }),
    requestId: z.string().nullable().meta({ description: 'Which request did it.', example: 'req-5f1c2a9e' }),
    userId: idOf('user').nullable().meta({ description: 'The user whom it is about.' }),
    sessionId: idOf('session')
      .nullable()
      .meta({ description: 'The session that it is about.', example: null }),
    subjectIds: z.array(z.string()).meta({
      description: 'Ids of all that it is about: user, session, and further things.',
      example: ['user_01k7r3m8wxe4gbr5v2c9t6hznq'],
    }),
    changedFields: z
      .array(z.string())
      .meta({ description: 'Names of the fields that changed; no values.', example: ['email'] }),
    detail: jsonObject.nullable().meta({ description: 'What else is told of this type.', example: null }),
  })
  .meta({ id: 'Event', description: "One entry of the tenant's log." })

const EventListShape = z.object({
  pageSize: z.int().min(1).max(1000).meta({ description: 'How many were asked for.', example: 50 }),
  events: z.array(EventShape),
})

/** An entry as REST answers it. */
function toBody(event: LogEvent): z.input<typeof EventShape> {
  const { actorUserId, actorClientId, actorTenantId, ip } = event
  const actor = { userId: actorUserId, clientId: actorClientId, tenantId: actorTenantId, ip }
  return {
    id: event.id,
    position: event.position,
    type: event.type,
    occurredAt: event.occurredAt.toISOString(),
    actor: actorUserId || actorClientId || ip ? actor : null,
    requestId: event.requestId,
    userId: event.userId,
    sessionId: event.sessionId,
    subjectIds: subjectIdsOf(event),
    changedFields: event.changedFields,
    detail: event.detail,
  }
}

export const eventRoutes: readonly RestRoute[] = [
  restRoute({
    method: 'GET',
    path: '/events',
    operationId: 'listEvents',
    summary:
      "The tenant's log: who did what, when, from where. By cursor only; `direction=desc` is newest first.",
    scope: 'events:read',
    paged: 'by-cursor',
    query: EventOrder,
    filter: KnownEventFilter,
    response: EventListShape,
    handle: async (ctx, { filter, query, paging }) => {
      const page = await listEvents(ctx, { ...paging, filter, direction: query.direction })
      const body = { pageSize: page.pageSize, events: page.rows.map(toBody) }
      return withOnward(body, page, ({ position }) => position)
    },
  }),
]
