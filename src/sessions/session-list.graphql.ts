import { builder } from '../graphql/builder.ts'
import { connectionField, PAGE_ARGS } from '../graphql/connection.ts'
import { withScope } from '../graphql/field-access.ts'
import { DateTimeRange, OrderDirection } from '../graphql/list-inputs.ts'
import type { SessionOrderField } from './session-list.fields.ts'
import { listSessions } from './session-list.ts'
import { SessionConnection } from './sessions.graphql.ts'

const SessionFilter = builder.inputType('SessionFilter', {
  description:
    'Only sessions that match all members. userId combines with everything; other members cannot be combined.',
  fields: (t) => ({
    userId: t.id({ description: 'Sessions of this user.' }),
    clientId: t.id({ description: 'Started through this client.' }),
    ip: t.string({ description: 'Last used from this IP address, in any notation.' }),
    createdAt: t.field({ type: DateTimeRange, description: 'Started in this time.' }),
    lastSeenAt: t.field({ type: DateTimeRange, description: 'Last used in this time.' }),
  }),
})

const SessionOrderFieldEnum = builder.enumType('SessionOrderField', {
  description: 'Fields by which sessions can be ordered.',
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
      description: 'The field of the order. Default: for a range of the filter its field, otherwise the id.',
    }),
    direction: t.field({
      type: OrderDirection,
      defaultValue: 'asc',
      description: 'Ascending (the default) or descending.',
    }),
  }),
})

builder.queryField('sessions', (t) =>
  t.field({
    ...withScope('sessions:read', 'The active sessions of the tenant, by default in order of their start.'),
    ...connectionField(SessionConnection),
    args: {
      ...PAGE_ARGS,
      filter: t.arg({ type: SessionFilter, description: 'The filter.' }),
      orderBy: t.arg({ type: SessionOrder, description: 'The order.' }),
    },
    resolve: (_root, { orderBy, ...args }, { ctx }) =>
      listSessions(ctx, { ...args, orderBy: orderBy?.field, direction: orderBy?.direction }) as never,
  }),
)
