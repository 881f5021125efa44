import { builder } from './builder.ts'

/** A range of time in a filter; services parse it as `timeRange` of schema/input-shapes.ts. */
export const DateTimeRange = builder.inputType('DateTimeRange', {
  description: 'A range of time; one of the bounds may be omitted.',
  fields: (t) => ({
    gte: t.field({ type: 'DateTime', description: 'At or after this instant.' }),
    lt: t.field({ type: 'DateTime', description: 'Before this instant.' }),
  }),
})

/** The values are those of the REST parameter `direction`. */
export const OrderDirection = builder.enumType('OrderDirection', {
  description: 'Order of a list.',
  values: {
    ASC: { value: 'asc' as const, description: 'Ascending: smallest or oldest first.' },
    DESC: { value: 'desc' as const, description: 'Descending: greatest or newest first.' },
  },
})
