import { builder } from './builder.ts'

/** Bounds of a time in a filter; services take it as `timeRange` of fields.ts. */
export const DateTimeRange = builder.inputType('DateTimeRange', {
  description: 'From an instant on, up to another; one of the two may be left out.',
  fields: (t) => ({
    gte: t.field({ type: 'DateTime', description: 'At or after this instant.' }),
    lt: t.field({ type: 'DateTime', description: 'Before this instant.' }),
  }),
})

/** Values are those of REST's parameter `direction`. */
export const OrderDirection = builder.enumType('OrderDirection', {
  description: 'Which end of a list comes first.',
  values: {
    ASC: { value: 'asc' as const, description: 'The least, or oldest, first.' },
    DESC: { value: 'desc' as const, description: 'The greatest, or newest, first.' },
  },
})
