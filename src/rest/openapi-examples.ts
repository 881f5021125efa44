import { type JsonSchema, resolve } from './openapi-schemas.ts'

const EXAMPLES_BY_TYPE: Record<string, unknown> = {
  string: 'text',
  integer: 0,
  number: 0,
  boolean: false,
  null: null,
}

/**
 * A value that the schema admits, plausible where shapes tell examples: of an object, every member that is required or
 * has an example of its own.
 */
export function exampleOf(given: JsonSchema, components: Record<string, JsonSchema>): unknown {
  if (given.examples) return given.examples[0]
  const schema = resolve(given, components)
  if (schema.examples) return schema.examples[0]
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  const [option] = schema.anyOf ?? []
  if (option) return exampleOf(option, components)
  const types = [schema.type ?? 'null'].flat()
  // Unset rather than made up.
  if (types.includes('null') && !hasExample(schema, components)) return null
  if (types.includes('array'))
    return schema.items && hasExample(schema.items, components) ? [exampleOf(schema.items, components)] : []
  if (types.includes('object'))
    return Object.fromEntries(
      Object.entries(schema.properties ?? {})
        .filter(([name, property]) => schema.required?.includes(name) || hasExample(property, components))
        .map(([name, property]) => [name, exampleOf(property, components)]),
    )
  return EXAMPLES_BY_TYPE[types[0] ?? 'null']
}

function hasExample(given: JsonSchema, components: Record<string, JsonSchema>): boolean {
  const schema = resolve(given, components)
  return (
    given.examples !== undefined ||
    schema.examples !== undefined ||
    [...(schema.anyOf ?? []), ...Object.values(schema.properties ?? {})].some((below) =>
      hasExample(below, components),
    )
  )
}
