import { builder } from '../graphql/builder.ts'
import { CURSOR_ARGS, connectionField, PageInfo } from '../graphql/connection.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { DateTimeRange, OrderDirection } from '../graphql/list-inputs.ts'
import { EventInterface } from './event-types.graphql.ts'
import { type EventPage, listEvents } from './list.ts'
import type { LogEvent } from './log.ts'

const EventEdge = builder.objectRef<LogEvent>('EventEdge').implement({
  ...withPublicAccess('An edge of EventConnection.'),
  fields: (t) => ({
    cursor: t.exposeString('position', { description: 'Cursor of the row in this list.' }),
    node: t.field({ type: EventInterface, description: 'The row.', resolve: (event) => event }),
  }),
})

// The multiplier of the list already counts the events.
const SINGLE_FIELD_COST = { field: 1, multiplier: 1 }

const EventConnection = builder.objectRef<EventPage>('EventConnection').implement({
  ...withPublicAccess('A page of a list of Event.'),
  fields: (t) => ({
    edges: t.field({
      type: [EventEdge],
      complexity: SINGLE_FIELD_COST,
      description: 'The rows of the page, each with its cursor.',
      resolve: ({ rows }) => rows,
    }),
    nodes: t.field({
      type: [EventInterface],
      complexity: SINGLE_FIELD_COST,
      description: 'The rows of the page.',
      resolve: ({ rows }) => rows,
    }),
    pageInfo: t.field({
      type: PageInfo,
      description: 'Page information.',
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
    types: t.stringList({ description: 'Only events of these types.' }),
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
      "The tenant's event log: what happened, when, and by whom. The `position` of an event is its cursor in every list, and where a subscription starts.",
    ),
    ...connectionField(EventConnection),
    args: {
      ...CURSOR_ARGS,
      filter: t.arg({ type: EventFilter, description: 'The filter.' }),
      direction: t.arg({
        type: OrderDirection,
        defaultValue: 'asc',
        description: 'Ascending (the default) or descending.',
      }),
    },
    resolve: (_root, args, { ctx }) => listEvents(ctx, args),
  }),
)
