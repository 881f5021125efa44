import * as z from 'zod'

/** A closed set of texts with a description of each. GraphQL's enum type is made of it. */
export type EnumDefinition<Value extends string = string> = {
  /** The name of the GraphQL type. */
  name: string
  description: string
  descriptions: Record<Value, string>
  values: readonly [Value, ...Value[]]
}

/** The enums of shapes. A shape that wraps another has the one of the inner shape. */
export const shapeEnums = z.registry<EnumDefinition>()

/** A shape of one value of an enum. */
export function oneValueOf<const Value extends string>(enumShape: z.ZodType<string>, value: Value) {
  const definition = shapeEnums.get(enumShape)
  const shape = z.enum([value], `must be ${value}`)
  return definition ? shape.register(shapeEnums, definition) : shape
}

/** Defines an enum by the descriptions of its values, and its shape. */
export function defineEnum<const Value extends string>(
  name: string,
  description: string,
  descriptions: Record<Value, string>,
) {
  const values = Object.keys(descriptions) as [Value, ...Value[]]
  const shape = z.enum(values, `must be one of: ${values.join(', ')}`)
  shape.register(shapeEnums, { name, description, descriptions, values })
  return { values, shape }
}
