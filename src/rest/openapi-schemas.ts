import { z } from 'zod'
import { descriptionOf } from '../descriptions.ts'

/** A schema of JSON Schema 2020-12, which is what OpenAPI 3.1 has. */
export type JsonSchema = {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  enum?: unknown[]
  description?: string
  examples?: unknown[]
  [keyword: string]: unknown
}

export type Io = 'input' | 'output'

const COMPONENT = '#/components/schemas/'

/** What fields that every resource has are, where neither shape nor schema.prisma says more. */
const COMMON: Record<string, string | undefined> = {
  id: 'Identifier: the same here, in GraphQL and in tokens.',
  updatedAt: 'When somebody last changed it.',
  createdAt: 'When it was created.',
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `anyOf` of a plain schema and null as one schema that also takes null, which readers and generators know better. */
function foldNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  const plain = anyOf?.find(({ type }) => type !== 'null')
  if (anyOf?.length !== 2 || !anyOf.some(({ type }) => type === 'null') || !plain?.type) return schema
  return {
    ...plain,
    ...rest,
    type: [plain.type, 'null'].flat(),
    ...(plain.enum && { enum: [...plain.enum, null] }),
  }
}

const isReference = ({ $ref, anyOf }: JsonSchema) => $ref !== undefined || anyOf?.some(({ $ref }) => $ref)

/** What src/shapes.ts says of `meta` besides JSON Schema's keywords, turned into these. */
function resolveMeta({ model, samples, example, ...schema }: JsonSchema): JsonSchema {
  const sampleOf = isRecord(samples) ? samples : {}
  const properties =
    schema.properties &&
    Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => {
        const described = property.description ?? (typeof model === 'string' && descriptionOf(model, name))
        const description = described || (isReference(property) ? undefined : COMMON[name])
        return [
          name,
          {
            ...property,
            ...(description !== undefined && { description }),
            ...(Object.hasOwn(sampleOf, name) && { examples: [sampleOf[name]] }),
          },
        ]
      }),
    )
  const description = schema.description ?? (typeof model === 'string' ? descriptionOf(model) : undefined)
  return {
    ...schema,
    ...(description !== undefined && { description }),
    ...(properties && { properties }),
    ...(example !== undefined && { examples: [example] }),
  }
}

/** What zod writes and nobody needs: the range of safe integers, that names of members are text, the rules of the calendar. */
function withoutNoise({ $schema, propertyNames, ...schema }: JsonSchema): JsonSchema {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.format === 'date-time') delete schema.pattern
  if (schema.$ref) schema.$ref = schema.$ref.replace('#/$defs/', COMPONENT)
  return schema
}

const mapValues = (schemas: Record<string, JsonSchema>) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, tidy(schema)]))

/** The schema as openapi.json has it, below it first. */
function tidy(schema: JsonSchema): JsonSchema {
  const { properties, items, anyOf, additionalProperties, ...rest } = schema
  return foldNull(
    resolveMeta(
      withoutNoise({
        ...rest,
        ...(properties && { properties: mapValues(properties) }),
        ...(items && { items: tidy(items) }),
        ...(anyOf && { anyOf: anyOf.map(tidy) }),
        ...(additionalProperties !== undefined && {
          additionalProperties: isRecord(additionalProperties)
            ? tidy(additionalProperties as JsonSchema)
            : additionalProperties,
        }),
      }),
    ),
  )
}

/** Schemas of one document: what has an `id` becomes a component, and is referred to wherever it is met. */
export function createSchemas() {
  const components: Record<string, JsonSchema> = {}
  return {
    components,
    /** Throws when two shapes of different form have the same id. */
    schemaOf: (shape: z.ZodType, io: Io): JsonSchema => {
      const { $defs = {}, ...root } = z.toJSONSchema(shape, { io, unrepresentable: 'any' }) as JsonSchema
      for (const [id, definition] of Object.entries($defs as Record<string, JsonSchema>)) {
        const component = tidy(definition)
        if (id in components && JSON.stringify(components[id]) !== JSON.stringify(component))
          throw new Error(`openapi: two shapes have the id ${id}`)
        components[id] = component
      }
      return tidy(root)
    },
  }
}

/** The schema that a reference leads to. */
export const resolve = (schema: JsonSchema, components: Record<string, JsonSchema>): JsonSchema =>
  schema.$ref ? (components[schema.$ref.slice(COMPONENT.length)] ?? {}) : schema
