import { GraphQLError } from 'graphql'
import { builder } from './builder.ts'

/** RFC 3339, section 5.6, with seconds and an offset. */
const INSTANT = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/

function parseInstant(value: unknown): string {
  const date = typeof value === 'string' && INSTANT.test(value) ? new Date(value) : null
  if (!date || Number.isNaN(date.getTime()))
    throw new GraphQLError('DateTime must be an RFC 3339 instant such as 2026-01-31T12:00:00Z.')
  return date.toISOString()
}

function parseObject(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new GraphQLError('JSONObject must be an object.')
  return value as Record<string, unknown>
}

builder.scalarType('DateTime', {
  description: 'An instant as RFC 3339 writes it; always answered in UTC, to the millisecond.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time',
  serialize: (value) => (value as Date).toISOString(),
  parseValue: parseInstant,
})

builder.scalarType('JSONObject', {
  description: 'A JSON object of free form.',
  serialize: (value) => value,
  parseValue: parseObject,
})
