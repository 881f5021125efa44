import { builder } from '../graphql/builder.ts'
import { listOf, PAGE_ARGS } from '../graphql/connection.ts'
import { DateTimeRange, OrderDirection } from '../graphql/list-inputs.ts'
import { scoped } from '../graphql/scoped.ts'
import type { SessionOrderField } from './session-list.fields.ts'
import { listSessions } from './session-list.ts'
import { SessionConnection } from './sessions.graphql.ts'

const SessionFilter = builder.inputType('SessionFilter', {
  description: 'Only sessions that are all of this. userId combines with everything, the others stand alone.',
  fields: (t) => ({
    userId: t.id({ description: 'Of this user.' }),
    clientId: t.id({ description: 'Started through this client.' }),
    ip: t.string({ description: 'Last used from this address, however it is spelled.' }),
    createdAt: t.field({ type: DateTimeRange, description: 'Started in this time.' }),
    lastSeenAt: t.field({ type: DateTimeRange, description: 'Last used in this time.' }),
  }),
})

const SessionOrderFieldEnum = builder.enumType('SessionOrderField', {
  description: 'What sessions can be ordered by.',
  values: {
    CREATED_AT: { value: 'createdAt' as SessionOrderField, description: 'When they started.' },
    LAST_SEEN_AT: { value: 'lastSeenAt' as SessionOrderField, description: 'When they were last used.' },
  },
})

const SessionOrder = builder.inputType('SessionOrder', {
  description: 'How sessions are ordered.',
  fields: (t) => ({
    field: t.field({
      type: SessionOrderFieldEnum,
      description: 'By what; when omitted, by what a range of the filter is over, else by id.',
    }),
    direction: t.field({ type: OrderDirection, defaultValue: 'asc', description: 'Oldest or newest first.' }),
  }),
})

builder.queryField('sessions', (t) =>
  t.field({
    ...scoped('sessions:read', 'The active sessions of the tenant, in order of their start.'),
    ...listOf(SessionConnection),
    args: {
      ...PAGE_ARGS,
      filter: t.arg({ type: SessionFilter, description: 'Which sessions.' }),
      orderBy: t.arg({ type: SessionOrder, description: 'In which order.' }),
    },
    resolve: (_root, { orderBy, ...args }, { ctx }) =>
      listSessions(ctx, { ...args, orderBy: orderBy?.field, direction: orderBy?.direction }) as never,
  }),
)
