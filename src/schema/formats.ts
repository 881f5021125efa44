import * as z from 'zod'
import { shapeEnums } from './enums.ts'
import { text } from './input-shapes.ts'

/** The formats of texts. Each is a scalar of GraphQL (graphql/format-scalars.ts). */
export type TextFormat =
  | 'email'
  | 'phone'
  | 'any-phone'
  | 'uri'
  | 'language-tag'
  | 'time-zone'
  | 'birthdate'
  | 'color'
  | 'country'
  | 'ip'
  | 'scope'

/** The formats of JSON Schema that shapes state for openapi.json, alternatives joined. */
const JSON_FORMATS: Record<string, TextFormat> = {
  email: 'email',
  'idn-email': 'email',
  phone: 'phone',
  'phone local-phone': 'any-phone',
  uri: 'uri',
  'language-tag': 'language-tag',
  'time-zone': 'time-zone',
  'ipv4 ipv6': 'ip',
}

/** Formats that openapi.json does not state: those without a name there, and those of responses. */
const stated = z.registry<{ format: TextFormat }>()

/** States the format of a shape. */
export const asFormat = <Shape extends z.ZodType>(shape: Shape, format: TextFormat): Shape => {
  stated.add(shape, { format })
  return shape
}

/** The format of a shape itself, not of those that it wraps. */
export function findFormat(shape: z.ZodType): TextFormat | undefined {
  const { format, anyOf = [] } = (shape.meta() ?? {}) as { format?: string; anyOf?: { format: string }[] }
  const alternatives = anyOf.map((each) => each.format).join(' ')
  return stated.get(shape)?.format ?? JSON_FORMATS[format ?? alternatives]
}

/** A text of a response, in a format. */
export const textIn = (format: TextFormat) => asFormat(z.string(), format)

/** The text of a response that a shape of an input has validated: it has its format, or its enum. */
export function toAnswerText(shape: z.ZodType): z.ZodString {
  const format = findFormat(shape)
  const definition = shapeEnums.get(shape)
  if (definition) return z.string().register(shapeEnums, definition)
  return format ? textIn(format) : z.string()
}

export const color = asFormat(text().regex(/^#[0-9a-fA-F]{6}$/, 'must be a color such as #0a7c66'), 'color')
