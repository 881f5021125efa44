import { type JsonSchema, resolveSchema } from './openapi-schemas.ts'

const EXAMPLES_BY_TYPE: Record<string, unknown> = {
  string: 'text',
  integer: 0,
  number: 0,
  boolean: false,
  null: null,
}

/**
 * Builds a value that the schema accepts, from the examples of its parts. Objects have the members that are
 * required or have an example.
 */
export function buildExample(reference: JsonSchema, components: Record<string, JsonSchema>): unknown {
  if (reference.examples) return reference.examples[0]
  const schema = resolveSchema(reference, components)
  if (schema.examples) return schema.examples[0]
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  const [option] = schema.anyOf ?? []
  if (option) return buildExample(option, components)
  const types = [schema.type ?? 'null'].flat()
  // Null instead of an invented value.
  if (types.includes('null') && !hasExample(schema, components)) return null
  if (types.includes('array'))
    return schema.items && hasExample(schema.items, components)
      ? [buildExample(schema.items, components)]
      : []
  if (types.includes('object'))
    return Object.fromEntries(
      Object.entries(schema.properties ?? {})
        .filter(([name, property]) => schema.required?.includes(name) || hasExample(property, components))
        .map(([name, property]) => [name, buildExample(property, components)]),
    )
  return EXAMPLES_BY_TYPE[types[0] ?? 'null']
}

function hasExample(reference: JsonSchema, components: Record<string, JsonSchema>): boolean {
  const schema = resolveSchema(reference, components)
  return (
    reference.examples !== undefined ||
    schema.examples !== undefined ||
    [...(schema.anyOf ?? []), ...Object.values(schema.properties ?? {})].some((child) =>
      hasExample(child, components),
    )
  )
}
