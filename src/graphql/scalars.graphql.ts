import { GraphQLError, Kind, type ValueNode, valueFromASTUntyped } from 'graphql'
import { isExactNumber } from '../core/json/exact-json.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import { instant } from '../schema/input-shapes.ts'
import { builder } from './builder.ts'
import { FORMAT_SCALARS } from './format-scalars.ts'

function parseInstant(value: unknown): string {
  const { data: date } = instant.safeParse(value)
  if (!date) throw new GraphQLError('DateTime must be an RFC 3339 timestamp such as 2026-01-31T12:00:00Z.')
  return date.toISOString()
}

function parseObject(value: unknown): Record<string, unknown> {
  if (!isJsonObject(value)) throw new GraphQLError('JSONObject must be an object.')
  return value
}

type Variables = Readonly<Record<string, unknown>> | null | undefined

/** Reads a literal; a number that would change becomes Infinity, as in JSON. */
function readLiteral(node: ValueNode, variables: Variables): unknown {
  if (node.kind === Kind.INT || node.kind === Kind.FLOAT)
    return isExactNumber(node.value) ? Number(node.value) : Number.POSITIVE_INFINITY
  if (node.kind === Kind.LIST) return node.values.map((value) => readLiteral(value, variables))
  if (node.kind === Kind.OBJECT)
    return Object.fromEntries(
      node.fields.map(({ name, value }) => [name.value, readLiteral(value, variables)]),
    )
  return valueFromASTUntyped(node, variables as { [variable: string]: unknown })
}

builder.scalarType('DateTime', {
  description: 'An RFC 3339 timestamp; output is always in UTC with milliseconds.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time',
  serialize: (value) => (typeof value === 'string' ? value : (value as Date).toISOString()),
  parseValue: parseInstant,
})

builder.scalarType('JSONObject', {
  description: 'A JSON object with any members.',
  serialize: (value) => value,
  parseValue: parseObject,
  parseLiteral: (node, variables) => parseObject(readLiteral(node, variables)),
})

/** The service validates the text, so that an error names every invalid field. See docs/decisions/0141. */
function readText(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new GraphQLError(`${name} must be a string.`)
  return value
}

for (const { name, description, url } of Object.values(FORMAT_SCALARS))
  builder.scalarType(name, {
    description,
    specifiedByURL: url,
    serialize: (value) => value as string,
    parseValue: (value) => readText(value, name),
  })
