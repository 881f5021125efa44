import * as z from 'zod'
import type { IdPrefix } from '../core/crypto.ts'
import { createMemberPicker } from '../core/json/member-picker.ts'

/** The syntax of an identifier of Vestibule, as a regular expression of the OpenAPI document. */
export const createIdPattern = (...prefixes: IdPrefix[]) =>
  `^(?:${prefixes.join('|')})_[0-7][0-9a-hjkmnp-tv-z]{25}$`

const idShapes = z.registry<{ isId: true }>()
/** Makes a text an id, in input too: GraphQL's ID. */
export const asId = <Shape extends z.ZodType<string>>(shape: Shape): Shape => {
  idShapes.add(shape, { isId: true })
  return shape
}
export const idShape = asId(z.string())
export const isIdShape = (shape: z.ZodType): boolean => idShapes.get(shape) !== undefined

/**
 * Shapes of response bodies. openapi.json is generated from them, and the tests validate every response
 * against it; nothing is parsed with them at run time. Members of `meta` besides JSON Schema keywords:
 * - `id`: name of the component; `model`: the model of schema.prisma whose `///` comments describe fields of
 *   the same name;
 * - `typeName`: name of the GraphQL type, where it is not that of the component; JSONObject for the scalar;
 * - `example`: a plausible value. Examples of whole bodies are composed of the examples of their fields.
 */
export const createIdShape = (prefix: IdPrefix) =>
  idShape.meta({
    pattern: createIdPattern(prefix),
    example: `${prefix}_01k7r3m8wxe4gbr5v2c9t6hznq`,
  })

/** The id of a client: a TypeID, or the URL of the client's metadata document. */
export const clientIdShape = idShape.meta({ example: 'client_01k7r3m8wxe4gbr5v2c9t6hznq' })

/** An instant in UTC, with milliseconds. Rows have a Date, which becomes this text. */
export const instantShape: z.ZodType<Date | string> = z
  .string()
  .meta({ format: 'date-time', example: '2026-11-20T09:30:00.000Z' })

/** The id of the request. */
export const requestIdShape = z.string().meta({
  description: 'Id of the request, as in X-Request-Id. The log contains the details.',
  example: 'a4e1c1c7-5f0c-4d39-9a5e-0d6d3a1f7b52',
})

/** A free-form JSON object. */
export const jsonObjectShape = z.record(z.string(), z.unknown())

const endsEarlyShape = z.boolean().meta({
  description:
    'True when the page has fewer items than `pageSize` because of their size; the link `next` continues.',
  example: false,
})

/** The envelope of a list; with `isByCursor`, a page and a total are in the answer to a request for a page. */
export const createListShape = (name: string, item: z.ZodType, isByCursor = false) => {
  const page = z.int().min(0)
  const totalSize = z.int().min(0).meta({ description: 'Number of items on all pages.', example: 1 })
  return z.object({
    page: isByCursor
      ? page
          .meta({ description: 'Index of the page, from 0; where a page was asked for.', example: 0 })
          .optional()
      : page.meta({ description: 'Index of the page, from 0; 0 when a cursor was given.', example: 0 }),
    pageSize: z
      .int()
      .min(1)
      .max(1000)
      .meta({ description: 'Requested number of items per page.', example: 50 }),
    totalSize: isByCursor ? totalSize.optional() : totalSize,
    endsEarly: endsEarlyShape,
    [name]: z.array(item),
  })
}

/** Returns a function that picks the fields of `shape` from a row, in the order of the shape. */
export function createBodyMapper<Shape extends Record<string, z.ZodType>>({ shape }: z.ZodObject<Shape>) {
  const pickMembers = createMemberPicker(Object.keys(shape))
  return <Row extends { [Field in keyof Shape]: unknown }>(row: Row) =>
    pickMembers(row) as Pick<Row, keyof Shape & keyof Row>
}
