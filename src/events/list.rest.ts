import * as z from 'zod'
import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { attachPageLinks } from '../schema/page.ts'
import {
  clientIdShape,
  createIdShape,
  endsEarlyShape,
  instantShape,
  jsonObjectShape,
} from '../schema/response-shapes.ts'
import { EventFilter, EventOrder } from './list.fields.ts'
import { getSubjectIds, listEvents } from './list.ts'
import type { LogEvent } from './log.ts'

const EventShape = z
  .object({
    id: createIdShape('event'),
    position: z.string().meta({
      description: 'Position in the event log: a value for `after` and `before`, and for subscriptions.',
      example: 'MS43NDIuMQ',
    }),
    type: z.string().meta({ description: 'What happened.', example: 'user.updated' }),
    occurredAt: instantShape.meta({ description: 'When it happened.' }),
    actor: z
      .object({
        userId: createIdShape('user').nullable().meta({ description: 'The user that caused it.' }),
        clientId: clientIdShape
          .nullable()
          .meta({ description: 'The client that caused it, or that the user used.' }),
        tenantId: z.string().nullable().meta({
          description: 'Tenant of the actor if it is an operator of another tenant; null otherwise.',
          example: null,
        }),
        ip: z.string().nullable().meta({ description: 'IP address of the request.', example: '203.0.113.7' }),
      })
      .nullable()
      .meta({
        description: 'The user or client that caused it, with its IP address; null for the platform itself.',
      }),
    requestId: z
      .string()
      .nullable()
      .meta({ description: 'Id of the request that caused it.', example: 'req-5f1c2a9e' }),
    deviceId: z.string().nullable().meta({
      description: 'The device that the caller named by a device token; null without one.',
      example: null,
    }),
    userId: createIdShape('user').nullable().meta({ description: 'The user that it is about.' }),
    sessionId: createIdShape('session')
      .nullable()
      .meta({ description: 'The session that it is about.', example: null }),
    subjectIds: z.array(z.string()).meta({
      description: 'Ids of its subjects: the user, the session, then other objects.',
      example: ['user_01k7r3m8wxe4gbr5v2c9t6hznq'],
    }),
    changedFields: z
      .array(z.string())
      .meta({ description: 'Names of the changed fields, without values.', example: ['email'] }),
    detail: jsonObjectShape
      .nullable()
      .meta({ description: 'Further facts, depending on the type.', example: null }),
  })
  .meta({ id: 'Event', description: "An event of the tenant's event log." })

const EventListShape = z.object({
  pageSize: z.int().min(1).max(1000).meta({ description: 'Requested number of items per page.', example: 50 }),
  endsEarly: endsEarlyShape,
  events: z.array(EventShape),
})

/** The JSON body of an event. */
function toEventBody(event: LogEvent): z.input<typeof EventShape> {
  const { actorUserId, actorClientId, actorTenantId, ip } = event
  const actor = { userId: actorUserId, clientId: actorClientId, tenantId: actorTenantId, ip }
  return {
    id: event.id,
    position: event.position,
    type: event.type,
    occurredAt: event.occurredAt.toISOString(),
    actor: actorUserId || actorClientId || ip ? actor : null,
    requestId: event.requestId,
    deviceId: event.deviceId,
    userId: event.userId,
    sessionId: event.sessionId,
    subjectIds: getSubjectIds(event),
    changedFields: event.changedFields,
    detail: event.detail,
  }
}

export const eventRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'GET',
    path: '/events',
    operationId: 'listEvents',
    summary:
      "The tenant's event log: what happened, when, and by whom. The `position` of an event is its cursor in every list, and where a subscription starts.",
    scope: 'events:read',
    paged: 'by-cursor',
    query: EventOrder,
    filter: EventFilter,
    response: EventListShape,
    handle: async (ctx, { filter, query, paging }) => {
      const page = await listEvents(ctx, { ...paging, filter, direction: query.direction })
      const body = {
        pageSize: page.pageSize,
        endsEarly: page.endsEarly,
        events: page.rows.map(toEventBody),
      }
      return attachPageLinks(body, page, ({ position }) => position)
    },
  }),
]
