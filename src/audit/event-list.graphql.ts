import type { LogEvent } from '../events.ts'
import { builder } from '../graphql/builder.ts'
import { CURSOR_ARGS, listOf, PageInfo } from '../graphql/connection.ts'
import { EventInterface } from '../graphql/event-types.graphql.ts'
import { DateTimeRange, OrderDirection } from '../graphql/list-inputs.ts'
import { open, scoped } from '../graphql/scoped.ts'
import { type EventPage, listEvents } from './event-list.ts'

const EventEdge = builder.objectRef<LogEvent>('EventEdge').implement({
  ...open('One entry of an EventConnection.'),
  fields: (t) => ({
    cursor: t.exposeString('position', { description: 'Position of the entry.' }),
    node: t.field({ type: EventInterface, description: 'The entry.', resolve: (event) => event }),
  }),
})

// The entries were paid for by the list's own multiplier.
const once = { field: 1, multiplier: 1 }

const EventConnection = builder.objectRef<EventPage>('EventConnection').implement({
  ...open('A page of the log.'),
  fields: (t) => ({
    edges: t.field({
      type: [EventEdge],
      complexity: once,
      description: 'The entries, each with its cursor.',
      resolve: ({ rows }) => rows,
    }),
    nodes: t.field({
      type: [EventInterface],
      complexity: once,
      description: 'The entries.',
      resolve: ({ rows }) => rows,
    }),
    pageInfo: t.field({
      type: PageInfo,
      description: 'What precedes and follows the page. Its cursors are positions.',
      resolve: ({ rows, hasNextPage, hasPreviousPage }) => ({
        hasNextPage,
        hasPreviousPage,
        startCursor: rows.at(0)?.position ?? null,
        endCursor: rows.at(-1)?.position ?? null,
      }),
    }),
  }),
})

const EventFilter = builder.inputType('EventFilter', {
  description: 'Only entries that are all of this.',
  fields: (t) => ({
    types: t.stringList({ description: 'Of one of these types, such as session.started.' }),
    subjectId: t.id({
      description:
        'About this user or session; or of this client, credential, grant or whatever else it is about.',
    }),
    actorId: t.id({
      description: 'Done by this person or client; what a person did is also of the client that they used.',
    }),
    requestId: t.string({
      description:
        'That this request led to, such as why it was refused: error pages and answers name it. Refreshes of tokens and sessions are not found by it.',
    }),
    occurredAt: t.field({ type: DateTimeRange, description: 'That happened in this time.' }),
  }),
})

builder.queryField('events', (t) =>
  t.field({
    ...scoped(
      'events:read',
      "The tenant's log: who did what, when, from where. `after` of the last page is where a subscription starts.",
    ),
    ...listOf(EventConnection),
    args: {
      ...CURSOR_ARGS,
      filter: t.arg({ type: EventFilter, description: 'Which entries.' }),
      direction: t.arg({
        type: OrderDirection,
        defaultValue: 'asc',
        description: 'Oldest or newest first.',
      }),
    },
    resolve: (_root, args, { ctx }) => listEvents(ctx, args),
  }),
)
