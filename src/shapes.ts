import { z } from 'zod'
import type { IdPrefix } from './crypto.ts'

/**
 * What resources look like when they are answered: openapi.json describes them so, and the tests check every answer.
 * Nothing is parsed with these shapes at run time. What `meta` may tell besides JSON Schema's own keywords:
 * - `id`: name of the component; `model`: the model of schema.prisma whose `///` describe the fields of that name;
 * - `example`: a plausible value. The examples of whole bodies are put together from those of their fields.
 */
export const idOf = (prefix: IdPrefix) =>
  z.string().meta({
    pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`,
    example: `${prefix}_01k7r3m8wxe4gbr5v2c9t6hznq`,
  })

/** The id of a client: most are ours, those of clients that publish a metadata document are its URL. */
export const clientId = z.string().meta({ example: 'client_01k7r3m8wxe4gbr5v2c9t6hznq' })

/** An instant; always in UTC, to the millisecond. */
export const time = z.string().meta({ format: 'date-time', example: '2026-11-20T09:30:00.000Z' })

/** Which request it was. */
export const requestId = z.string().meta({
  description: 'Which request it was, as X-Request-Id says too; the log knows more under it.',
  example: 'a4e1c1c7-5f0c-4d39-9a5e-0d6d3a1f7b52',
})

/** An object of free form. */
export const jsonObject = z.record(z.string(), z.unknown())

/** The envelope of a list. */
export const listShape = (name: string, item: z.ZodType) =>
  z.object({
    page: z
      .int()
      .min(0)
      .meta({ description: 'Index of the page, from 0; 0 when a cursor was given.', example: 0 }),
    pageSize: z.int().min(1).max(1000).meta({ description: 'How many were asked for.', example: 50 }),
    totalSize: z.int().min(0).meta({ description: 'How many there are on all pages.', example: 1 }),
    [name]: z.array(item),
  })

/** Picks the fields of `shape` out of a row, in the order of the shape: the body that the shape describes. */
export const toBodyOf =
  <Shape extends Record<string, z.ZodType>>({ shape }: z.ZodObject<Shape>) =>
  <Row extends { [Field in keyof Shape]: unknown }>(row: Row) =>
    Object.fromEntries(Object.keys(shape).map((field) => [field, row[field]])) as Pick<
      Row,
      keyof Shape & keyof Row
    >
