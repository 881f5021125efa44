import * as z from 'zod'
import { isJsonObject } from '../core/json/json-object.ts'
import { findDescription } from '../schema/schema-descriptions.ts'

/** A schema of JSON Schema 2020-12, which OpenAPI 3.1 uses. */
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

export type SchemaDirection = 'input' | 'output'

const COMPONENT = '#/components/schemas/'

/** Descriptions of common fields, for shapes and models without their own. */
const COMMON_DESCRIPTIONS: Record<string, string | undefined> = {
  id: 'Id; the same in REST, GraphQL and tokens.',
  updatedAt: 'Time of the last change.',
  createdAt: 'Time of creation.',
}

/** Replaces `anyOf` of a schema and null by one nullable schema, which generators support better. */
function simplifyNullable(schema: JsonSchema): JsonSchema {
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

/**
 * Converts the members of `meta` that are not JSON Schema keywords (see schema/response-shapes.ts) to
 * keywords.
 */
function expandMeta({ model, samples, example, typeName: _, ...schema }: JsonSchema): JsonSchema {
  const samplesByName = isJsonObject(samples) ? samples : {}
  const properties =
    schema.properties &&
    Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => {
        const described = property.description ?? (typeof model === 'string' && findDescription(model, name))
        const description = described || (isReference(property) ? undefined : COMMON_DESCRIPTIONS[name])
        return [
          name,
          {
            ...property,
            ...(description !== undefined && { description }),
            ...(Object.hasOwn(samplesByName, name) && { examples: [samplesByName[name]] }),
          },
        ]
      }),
    )
  const description = schema.description ?? (typeof model === 'string' ? findDescription(model) : undefined)
  return {
    ...schema,
    ...(description !== undefined && { description }),
    ...(properties && { properties }),
    ...(example !== undefined && { examples: [example] }),
  }
}

/**
 * Converts the member `isClearable` of `meta`, of text that the empty text unsets (see `clearable` in
 * schema/input-shapes.ts), to keywords.
 */
function expandClearable({ isClearable, ...schema }: JsonSchema): JsonSchema {
  if (isClearable !== true) return schema
  const { format, pattern, ...rest } = schema
  if (rest.enum) return { ...rest, enum: [...rest.enum, ''] }
  if (rest.anyOf) return { ...schema, anyOf: [...rest.anyOf, { const: '' }] }
  if (format === undefined && pattern === undefined) return schema
  return {
    ...rest,
    anyOf: [
      { ...(format !== undefined && { format }), ...(pattern !== undefined && { pattern }) },
      { const: '' },
    ],
  }
}

/** Removes redundant keywords that zod generates: the range of safe integers and propertyNames. */
function removeNoise({ $schema, propertyNames, ...schema }: JsonSchema): JsonSchema {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.$ref) schema.$ref = schema.$ref.replace('#/$defs/', COMPONENT)
  return schema
}

const cleanSchemas = (schemas: Record<string, JsonSchema>) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, cleanSchema(schema)]))

/** Converts a schema of zod to one of the OpenAPI document, from the leaves up. */
function cleanSchema(schema: JsonSchema): JsonSchema {
  const { properties, items, anyOf, additionalProperties, ...rest } = schema
  return expandClearable(
    simplifyNullable(
      expandMeta(
        removeNoise({
          ...rest,
          ...(properties && { properties: cleanSchemas(properties) }),
          ...(items && { items: cleanSchema(items) }),
          ...(anyOf && { anyOf: anyOf.map(cleanSchema) }),
          ...(additionalProperties !== undefined && {
            additionalProperties: isJsonObject(additionalProperties)
              ? cleanSchema(additionalProperties as JsonSchema)
              : additionalProperties,
          }),
        }),
      ),
    ),
  )
}

/**
 * Collects the schemas of one document, without these values of enumerations. A shape with an `id` becomes a
 * component that is referenced wherever it occurs.
 */
export function createSchemas(hiddenValues: readonly unknown[] = []) {
  const components: Record<string, JsonSchema> = {}
  return {
    components,
    /** Converts a shape. Throws when two different shapes have the same id. */
    toSchema: (shape: z.ZodType, io: SchemaDirection): JsonSchema => {
      const { $defs = {}, ...root } = z.toJSONSchema(shape, {
        io,
        unrepresentable: 'any',
        override: ({ jsonSchema }) => {
          if (jsonSchema.enum)
            jsonSchema.enum = jsonSchema.enum.filter((value) => !hiddenValues.includes(value))
        },
      }) as JsonSchema
      for (const [id, definition] of Object.entries($defs as Record<string, JsonSchema>)) {
        const component = cleanSchema(definition)
        if (id in components && JSON.stringify(components[id]) !== JSON.stringify(component))
          throw new Error(`openapi: two shapes have the id ${id}`)
        components[id] = component
      }
      return cleanSchema(root)
    },
  }
}

/** Resolves a reference to its schema. */
export const resolveSchema = (schema: JsonSchema, components: Record<string, JsonSchema>): JsonSchema =>
  schema.$ref ? (components[schema.$ref.slice(COMPONENT.length)] ?? {}) : schema
