import type { User } from '../../generated/prisma/client.ts'
import { builder } from '../../graphql/builder.ts'
import { connectionField, defineConnectionType, PAGE_ARGS } from '../../graphql/connection.ts'
import { withScope } from '../../graphql/field-access.ts'
import { COUNT_COST } from '../../graphql/limits/count-cost.ts'
import { DateTimeRange, OrderDirection } from '../../graphql/list-inputs.ts'
import { buildNodeQuery, getNodeFields } from '../../graphql/node-selection.ts'
import type { Page } from '../../schema/page.ts'
import { UserRef } from '../users.graphql.ts'
import { UserFilter as Shape, type UserFilterMember, type UserOrderField } from './user-filter.fields.ts'
import { listUsers } from './user-list.ts'

/** REST describes its parameters in the same words. */
const describeMember = (member: UserFilterMember) => ({
  description: Shape.shape[member].meta()?.description,
})

const UserFilter = builder.inputType('UserFilter', {
  description:
    'Only users that match all members. search, email, phoneNumber and externalId combine with everything, flags with each other; other members cannot be combined.',
  fields: (t) => ({
    search: t.string(describeMember('search')),
    email: t.string(describeMember('email')),
    phoneNumber: t.string(describeMember('phoneNumber')),
    externalId: t.string(describeMember('externalId')),
    locked: t.boolean(describeMember('locked')),
    emailVerified: t.boolean(describeMember('emailVerified')),
    phoneNumberVerified: t.boolean(describeMember('phoneNumberVerified')),
    hasCredential: t.boolean(describeMember('hasCredential')),
    idpId: t.id(describeMember('idpId')),
    createdAt: t.field({ type: DateTimeRange, ...describeMember('createdAt') }),
    updatedAt: t.field({ type: DateTimeRange, ...describeMember('updatedAt') }),
    lastSeenAt: t.field({ type: DateTimeRange, ...describeMember('lastSeenAt') }),
    appMetadata: t.field({ type: 'JSONObject', ...describeMember('appMetadata') }),
  }),
})

const toEnumValue = (value: UserOrderField, description: string) => ({ value, description })

const UserOrderFieldEnum = builder.enumType('UserOrderField', {
  description: 'Fields by which users can be ordered. Users without a value come last in both directions.',
  values: {
    CREATED_AT: toEnumValue('createdAt', 'When they were created.'),
    UPDATED_AT: toEnumValue('updatedAt', 'When they were last changed.'),
    LAST_SEEN_AT: toEnumValue('lastSeenAt', 'When they were last active.'),
    EMAIL: toEnumValue('email', 'E-mail address, normalized.'),
    NAME: toEnumValue('name', 'Full display name, ignoring case and accents.'),
  },
})

const UserOrder = builder.inputType('UserOrder', {
  description: 'How users are ordered.',
  fields: (t) => ({
    field: t.field({
      type: UserOrderFieldEnum,
      description:
        'The field of the order; users without a value come last. Default: for a range of the filter its field, for a search the matched word, otherwise the id.',
    }),
    direction: t.field({
      type: OrderDirection,
      defaultValue: 'asc',
      description: 'Ascending (the default) or descending.',
    }),
  }),
})

const UserConnection = defineConnectionType('User', UserRef)

builder.queryField('users', (t) =>
  t.field({
    ...withScope('users:read', 'The users of the tenant, by default in order of creation.'),
    ...connectionField(UserConnection, ({ filter }) =>
      Object.keys(filter ?? {}).length > 0 ? COUNT_COST.scan : COUNT_COST.sum,
    ),
    args: {
      ...PAGE_ARGS,
      filter: t.arg({ type: UserFilter, description: 'The filter.' }),
      orderBy: t.arg({ type: UserOrder, description: 'The order.' }),
    },
    // DateTime takes the text of dates too.
    resolve: (_root, { orderBy, ...args }, context, info) =>
      listUsers(
        context.ctx,
        { ...args, orderBy: orderBy?.field, direction: orderBy?.direction },
        { fields: getNodeFields(info), buildQuery: () => buildNodeQuery('User', context, info) },
      ) as Promise<Page<User>>,
  }),
)
