import type { ObjectRef } from '@pothos/core'
import type * as z from 'zod'
import { type EnumDefinition, shapeEnums } from '../schema/enums.ts'
import { findFormat, type TextFormat } from '../schema/formats.ts'
import { isIdShape } from '../schema/response-shapes.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { builder, type GraphQLTypes, type InputFields } from './builder.ts'
import { withPublicAccess } from './field-access.ts'
import { getFormatScalar } from './format-scalars.ts'

/**
 * The GraphQL types of shapes: the fields of an object type from its response shape, and those of an input type from the
 * shape of the input. Descriptions are those of the shapes, or else of the columns of the model.
 *
 * An enum of `defineEnum` becomes an enum type, an object with a `typeName` or an `id` in its `meta` a type of that name,
 * and any other object the scalar JSONObject.
 */
type Direction = 'input' | 'output'
type Shapes = Record<string, z.ZodType>

/** The definition of a shape as zod keeps it. */
type Definition = {
  type: string
  innerType?: z.ZodType
  element?: z.ZodType
  in?: z.ZodType
  out?: z.ZodType
}
const getDefinition = (shape: z.ZodType): Definition => shape.def as unknown as Definition

type Unwrapped = { shape: z.ZodType; isNullable: boolean; format: TextFormat | undefined }

/** Removes what wraps a shape: optional, nullable, default values and conversions. Its format is the outermost one. */
function unwrap(shape: z.ZodType, direction: Direction): Unwrapped {
  let inner = shape
  let isNullable = false
  let format: TextFormat | undefined
  for (;;) {
    format ??= findFormat(inner)
    const { type, innerType, in: from, out } = getDefinition(inner)
    if (type === 'pipe' && from && out)
      inner = (direction === 'input') === (getDefinition(from).type !== 'transform') ? from : out
    else if (innerType) {
      isNullable ||= type !== 'readonly' && type !== 'nonoptional'
      inner = innerType
    } else return { shape: inner, isNullable, format }
  }
}

const enumTypes = new Map<string, ReturnType<typeof buildEnumType>>()

/** `createdAt` is CREATED_AT, `single-page` SINGLE_PAGE. */
const toEnumName = (value: string): string =>
  value
    .replace(/([a-z])(?=[A-Z][a-z])/g, '$1_')
    .replace(/[^A-Za-z0-9]/g, '_')
    .toUpperCase()

const buildEnumType = ({ name, description, descriptions, values }: EnumDefinition) =>
  builder.enumType(name, {
    description,
    values: Object.fromEntries(
      values.map((value) => [toEnumName(value), { value, description: descriptions[value] }]),
    ),
  })

/** The GraphQL type of an enum of `defineEnum`. */
export function getEnumType(shape: z.ZodType) {
  const definition = shapeEnums.get(shape)
  if (!definition) throw new Error('the shape has no enum')
  const type = enumTypes.get(definition.name) ?? buildEnumType(definition)
  enumTypes.set(definition.name, type)
  return type
}

/** The model of schema.prisma whose columns describe the members of a shape. */
export const getModel = (shape: z.ZodType | undefined): string | undefined =>
  shape?.meta()?.model as string | undefined

/** The name of the GraphQL type of an object: `typeName`, or else the `id` that is its name in REST. */
const getTypeName = (shape: z.ZodType): string | undefined => {
  const { id, typeName = id } = shape.meta() ?? {}
  return typeName as string | undefined
}

const objectTypes = new Map<string, unknown>()

/** Makes a type that of the shapes of this name. */
export const registerType = (name: string, type: unknown): void => void objectTypes.set(name, type)

/** The type of an object shape with an id, which is the name of the type. */
function getObjectType(shape: z.ZodObject, id: string, direction: Direction): unknown {
  const known = objectTypes.get(id)
  if (known) return known
  const model = getModel(shape)
  const description = shape.meta()?.description ?? findDescription(model ?? '') ?? id
  const type =
    direction === 'input'
      ? builder.inputType(id, { description, fields: (t) => buildInputFields(t, shape.shape, model) })
      : builder.objectRef<object>(id).implement({
          ...withPublicAccess(description),
          fields: (t) => buildObjectFields(t as never, shape.shape, model),
        })
  objectTypes.set(id, type)
  return type
}

/** The object type of a response shape, of whatever wraps it. */
export const toObjectType = <Row extends object>(shape: z.ZodType) =>
  toType(unwrap(shape, 'output'), 'output') as ObjectRef<GraphQLTypes, Row>

/** The type of a shape without wrappers; a list is an array of one. */
function toType({ shape, format }: Unwrapped, direction: Direction): unknown {
  if (shapeEnums.get(shape)) return getEnumType(shape)
  if (isIdShape(shape)) return 'ID'
  if (format) return getFormatScalar(format)
  const { type, element } = getDefinition(shape)
  switch (type) {
    case 'array':
      return [toType(unwrap(element as z.ZodType, direction), direction)]
    case 'string':
      return shape.meta()?.format === 'date-time' ? 'DateTime' : 'String'
    case 'enum':
      throw new Error(`a closed set has an enum or a format: ${JSON.stringify(shape.meta())}`)
    case 'number':
      return (shape as z.ZodNumber).isInt ? 'Int' : 'Float'
    case 'boolean':
      return 'Boolean'
    case 'object': {
      const name = getTypeName(shape)
      return name && name !== 'JSONObject'
        ? getObjectType(shape as z.ZodObject, name, direction)
        : 'JSONObject'
    }
    default:
      return 'JSONObject'
  }
}

const describeShape = (
  shape: z.ZodType,
  inner: z.ZodType,
  name: string,
  model: string | undefined,
): string | undefined => {
  const { id, description } = inner.meta() ?? {}
  // The description of an object with an id is that of its type.
  const own = shape.meta()?.description ?? (id === undefined ? description : undefined)
  return own ?? (model === undefined ? undefined : findDescription(model, name)) ?? description
}

type ObjectFields = PothosSchemaTypes.ObjectFieldBuilder<GraphQLTypes, object>

/**
 * Fields of an object type that return the members of the same names. `getOptions` returns further options of a field,
 * such as its access rule.
 */
export function buildObjectFields(
  t: ObjectFields,
  shapes: Shapes,
  model?: string,
  getOptions: (name: string) => object = () => ({}),
) {
  const build = (name: string, shape: z.ZodType) => {
    const unwrapped = unwrap(shape, 'output')
    const { shape: inner, isNullable } = unwrapped
    return t.expose(
      name as never,
      {
        type: toType(unwrapped, 'output'),
        nullable: isNullable,
        description: describeShape(shape, inner, name, model),
        ...getOptions(name),
      } as never,
    )
  }
  return Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, build(name, shape)]))
}

/**
 * The object type of a response shape. `access` has its rule, its description and its interfaces, `defineMore` the fields
 * that only GraphQL has.
 */
export function defineObjectType<Row extends object>(
  shape: z.ZodObject,
  access: { description: string; interfaces?: readonly object[] },
  defineMore: (t: PothosSchemaTypes.ObjectFieldBuilder<GraphQLTypes, Row>) => object = () => ({}),
) {
  const id = getTypeName(shape) as string
  const type = builder.objectRef<Row>(id).implement({
    ...(access as object),
    fields: (t) => ({
      ...(defineMore(t) as object),
      ...buildObjectFields(t as never, shape.shape, getModel(shape)),
    }),
  })
  objectTypes.set(id, type)
  return type
}

/** Fields of an input type. Members without which the shape rejects the input are required. */
export const buildInputFields = (t: InputFields, shapes: Shapes, model?: string) =>
  Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => {
      const unwrapped = unwrap(shape, 'input')
      const type = toType(unwrapped, 'input') as 'String'
      const required = !shape.safeParse(undefined).success
      return [
        name,
        t.field({ type, required, description: describeShape(shape, unwrapped.shape, name, model) }),
      ]
    }),
  )
