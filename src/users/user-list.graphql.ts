import { builder } from '../graphql/builder.ts'
import { connectionType, listOf, nodeFields, nodeQuery, PAGE_ARGS } from '../graphql/connection.ts'
import { DateTimeRange, OrderDirection } from '../graphql/list-inputs.ts'
import { scoped } from '../graphql/scoped.ts'
import { type FilterMember, UserFilter as Shape, type UserOrderField } from './user-filter.fields.ts'
import { listUsers } from './user-list.ts'
import { UserRef } from './users.graphql.ts'

/** REST tells the same of its parameters. */
const told = (member: FilterMember) => ({ description: Shape.shape[member].meta()?.description })

const UserFilter = builder.inputType('UserFilter', {
  description:
    'Only users that are all of this. search, email, phoneNumber and externalId combine with everything, flags with each other; the others stand alone.',
  fields: (t) => ({
    search: t.string(told('search')),
    email: t.string(told('email')),
    phoneNumber: t.string(told('phoneNumber')),
    externalId: t.string(told('externalId')),
    locked: t.boolean(told('locked')),
    emailVerified: t.boolean(told('emailVerified')),
    phoneNumberVerified: t.boolean(told('phoneNumberVerified')),
    hasCredential: t.boolean(told('hasCredential')),
    idpId: t.id(told('idpId')),
    createdAt: t.field({ type: DateTimeRange, ...told('createdAt') }),
    updatedAt: t.field({ type: DateTimeRange, ...told('updatedAt') }),
    lastSeenAt: t.field({ type: DateTimeRange, ...told('lastSeenAt') }),
    appMetadata: t.field({ type: 'JSONObject', ...told('appMetadata') }),
  }),
})

const field = (value: UserOrderField, description: string) => ({ value, description })

const UserOrderFieldEnum = builder.enumType('UserOrderField', {
  description: 'What users can be ordered by. Who has no such value comes last, in either direction.',
  values: {
    CREATED_AT: field('createdAt', 'When they were created.'),
    UPDATED_AT: field('updatedAt', 'When somebody last changed them.'),
    LAST_SEEN_AT: field('lastSeenAt', 'When they were last active.'),
    EMAIL: field('email', 'E-mail address, normalised.'),
    NAME: field('name', 'Full display name, whatever its case and accents.'),
  },
})

const UserOrder = builder.inputType('UserOrder', {
  description: 'How users are ordered.',
  fields: (t) => ({
    field: t.field({
      type: UserOrderFieldEnum,
      description:
        'By what. When omitted: a range of the filter by its field, a search by the word found, else by id.',
    }),
    direction: t.field({
      type: OrderDirection,
      defaultValue: 'asc',
      description: 'Least or oldest first, or last.',
    }),
  }),
})

const UserConnection = connectionType('User', UserRef)

builder.queryField('users', (t) =>
  t.field({
    ...scoped('users:read', 'The users of the tenant, in order of creation unless told otherwise.'),
    ...listOf(UserConnection),
    args: {
      ...PAGE_ARGS,
      filter: t.arg({ type: UserFilter, description: 'Which users.' }),
      orderBy: t.arg({ type: UserOrder, description: 'In which order.' }),
    },
    resolve: (_root, { orderBy, ...args }, context, info) =>
      listUsers(
        context.ctx,
        { ...args, orderBy: orderBy?.field, direction: orderBy?.direction },
        { query: nodeQuery('User', context, info), fields: nodeFields(info) },
      ),
  }),
)
