/** The error of the management API for invalid fields, without `requestId`. */
export const invalidFields = (...fields: [field: string, description: string][]) => ({
  code: 'BAD_USER_INPUT',
  message: 'The request has invalid fields.',
  fields: fields.map(([field, description]) => ({ field, description })),
})

/** The names of invalid fields, in their order. */
export const toFieldNames = (issues: { field: string }[]): string[] => issues.map(({ field }) => field)
