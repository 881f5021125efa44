import { builder } from '../graphql/builder.ts'
import { CURSOR_ARGS, connectionField, PageInfo } from '../graphql/connection.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { DateTimeRange, OrderDirection } from '../graphql/list-inputs.ts'
import { EventInterface } from './event-types.graphql.ts'
import { type EventPage, listEvents } from './list.ts'
import type { LogEvent } from './log.ts'

const EventEdge = builder.objectRef<LogEvent>('EventEdge').implement({
  ...withPublicAccess('An edge of an EventConnection.'),
  fields: (t) => ({
    cursor: t.exposeString('position', { description: 'Position of the event.' }),
    node: t.field({ type: EventInterface, description: 'The event.', resolve: (event) => event }),
  }),
})

// The multiplier of the list already counts the events.
const SINGLE_FIELD_COST = { field: 1, multiplier: 1 }

const EventConnection = builder.objectRef<EventPage>('EventConnection').implement({
  ...withPublicAccess('A page of the event log.'),
  fields: (t) => ({
    edges: t.field({
      type: [EventEdge],
      complexity: SINGLE_FIELD_COST,
      description: 'The events, each with its cursor.',
      resolve: ({ rows }) => rows,
    }),
    nodes: t.field({
      type: [EventInterface],
      complexity: SINGLE_FIELD_COST,
      description: 'The events.',
      resolve: ({ rows }) => rows,
    }),
    pageInfo: t.field({
      type: PageInfo,
      description: 'Page information. The cursors are positions.',
      resolve: ({ rows, hasNextPage, hasPreviousPage, endsEarly }) => ({
        hasNextPage,
        hasPreviousPage,
        endsEarly,
        startCursor: rows.at(0)?.position ?? null,
        endCursor: rows.at(-1)?.position ?? null,
      }),
    }),
  }),
})

const EventFilter = builder.inputType('EventFilter', {
  description: 'Only events that match all members.',
  fields: (t) => ({
    types: t.stringList({ description: 'Only events of these types, such as session.started.' }),
    subjectId: t.id({
      description:
        'Only events with this subject: a user, a session, or the object that the event is about, such as a client, credential or grant.',
    }),
    actorId: t.id({
      description:
        'Only events that this user or client caused; an event that a user caused is also an event of the client that the user used.',
    }),
    requestId: t.string({
      description:
        'Only events that this request caused, such as its rejection; error pages and responses show the id. Excludes refreshes of tokens and sessions.',
    }),
    deviceId: t.string({
      description:
        'Only events of requests on behalf of a user of this device: the `deviceId` of a session or event.',
    }),
    address: t.string({
      description:
        'Only failed sign-ins with this e-mail address or phone number, in any spelling, whether or not a user has it.',
    }),
    occurredAt: t.field({ type: DateTimeRange, description: 'Only events in this period.' }),
  }),
})

builder.queryField('events', (t) =>
  t.field({
    ...withScope(
      'events:read',
      "The tenant's event log: what happened, when, and by whom. The `endCursor` of the last page is a position to subscribe from.",
    ),
    ...connectionField(EventConnection),
    args: {
      ...CURSOR_ARGS,
      filter: t.arg({ type: EventFilter, description: 'Which events to list.' }),
      direction: t.arg({
        type: OrderDirection,
        defaultValue: 'asc',
        description: 'Oldest or newest first.',
      }),
    },
    resolve: (_root, args, { ctx }) => listEvents(ctx, args),
  }),
)
