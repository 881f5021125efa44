import { defineList } from '../operations/list.ts'
import { defineResource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import { DIRECTION } from '../schema/lists.ts'
import { toEventBody } from './event-body.ts'
import { EventInterface } from './event-types.graphql.ts'
import { EVENT_FILTER, EventShape } from './list.fields.ts'
import { listEvents } from './list.ts'
import type { LogEvent } from './log.ts'

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
