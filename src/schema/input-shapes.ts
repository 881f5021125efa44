import * as z from 'zod'
import { type FieldIssue, InvalidInput } from '../core/errors.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import { defineEnum } from './enums.ts'

/** Whether a day exists in the Gregorian calendar, which is extended to year 0, a leap year. */
function isRealDate(year: number, month: number, day: number): boolean {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

/** The numbers of a text that begins with YYYY-MM-DD. */
export const parseDate = (text: string): [year: number, month: number, day: number] => [
  Number(text.slice(0, 4)),
  Number(text.slice(5, 7)),
  Number(text.slice(8, 10)),
]

/** PostgreSQL rejects U+0000 and lone surrogates, which would otherwise end as a 500. */
const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed()

/** Whether `value` has at most `max` code points, as JSON Schema counts characters (maxLength). */
const hasAtMost = (value: string, max: number): boolean =>
  value.length <= max || (value.length <= 2 * max && [...value].length <= max)

/** Text that can be stored, up to `max` characters. */
export const text = (max = 1000) =>
  z
    .string('must be a string')
    .refine((value) => hasAtMost(value, max), `must have at most ${max} characters`)
    .refine(isStorable, 'must not contain U+0000 or lone surrogates')
    .meta({ maxLength: max })

/** Text that must not be empty. */
export const requiredText = (max = 1000) => text(max).min(1, 'must not be empty')

/** The search of a list. Blank text filters nothing; text without a letter or digit would match every row. */
export const searchText = text(200)
  .refine((value) => value.trim() === '' || /[\p{L}\p{N}]/u.test(value), 'must have a letter or a digit')
  .meta({ pattern: String.raw`^\s*$|[\p{L}\p{N}]` })
  .transform((value) => (value.trim() === '' ? null : value))

const acceptsEmpty = (shape: z.ZodType): boolean => shape.safeParse('').success

/** A member of a creation: omitted or null is unset. The empty text is rejected. */
export const optional = <Shape extends z.ZodType>(shape: Shape) =>
  (acceptsEmpty(shape)
    ? (shape.refine((value) => value !== '', 'must not be empty').meta({ minLength: 1 }) as Shape)
    : shape
  ).nullish()

/** Removes the members that are null, of an object whose members may be omitted. See docs/decisions/0149. */
export const omitNulls = <Given extends object>(given: Given) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value != null)) as {
    [Name in keyof Given]: Exclude<Given[Name], null>
  }

/** A text member of a change: omitted is unchanged, '' and null unset it (to null). */
export const clearable = <Shape extends z.ZodType>(shape: Shape) =>
  z
    .preprocess((value) => (value === '' ? null : value), shape.nullable())
    .optional()
    .meta({ isClearable: true })

const MAX_METADATA_BYTES = 65_536
/** Deeper values overflow the stack of readers, PostgreSQL included. */
const MAX_METADATA_DEPTH = 32

/** Beyond 2^53 - 1, doubles are whole numbers with gaps. Other numbers that would change are Infinity (core/exact-json.ts). */
export const isKeptNumber = (value: number): boolean => Math.abs(value) <= Number.MAX_SAFE_INTEGER
const NOT_KEPT = 'is a number that would not be kept exactly; send it as a string'

/** A number that keeps its value. */
export const keptNumber = z
  .number('must be a number')
  .min(Number.MIN_SAFE_INTEGER, NOT_KEPT)
  .max(Number.MAX_SAFE_INTEGER, NOT_KEPT)

/** Numbers that are not kept are named, up to so many. */
const MAX_NAMED_NUMBERS = 20
/** Longer member names are shortened in paths. */
const MAX_NAME_LENGTH = 100

/** Why a parsed JSON value cannot be stored, or null. The paths of its numbers that are not kept are added to `numbers`. */
function findJsonIssue(value: unknown, numbers: string[][], path: string[] = []): string | null {
  if (typeof value === 'string')
    return isStorable(value) ? null : 'must not contain U+0000 or lone surrogates'
  if (typeof value === 'number') {
    if (!isKeptNumber(value) && numbers.length < MAX_NAMED_NUMBERS) numbers.push(path)
    return null
  }
  if (value === null || typeof value === 'boolean') return null
  if (typeof value !== 'object') return 'must be JSON'
  if (path.length >= MAX_METADATA_DEPTH) return `must be nested at most ${MAX_METADATA_DEPTH} levels deep`
  for (const [name, member] of Object.entries(value)) {
    // Copying this member by assignment would set the prototype of the target.
    if (name === '__proto__') return 'must not contain a member named __proto__'
    const issue =
      findJsonIssue(name, numbers) ??
      findJsonIssue(member, numbers, [...path, name.slice(0, MAX_NAME_LENGTH)])
    if (issue) return issue
  }
  return null
}

/** A free-form JSON object of at most 64 KB when serialized, whose numbers keep their values. */
export const metadata = z
  .custom<Record<string, unknown>>(isJsonObject, 'must be a JSON object')
  .superRefine((value, context) => {
    const numbers: string[][] = []
    const issue =
      findJsonIssue(value, numbers) ??
      (Buffer.byteLength(JSON.stringify(value)) > MAX_METADATA_BYTES ? 'must have at most 64 KB' : null)
    if (issue) context.addIssue(issue)
    for (const path of numbers) context.addIssue({ code: 'custom', path, message: NOT_KEPT })
  })
  .meta({ type: 'object', additionalProperties: {} })

export const boolean = z.boolean('must be true or false')
/** One of a list of names. */
export const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, `must be one of: ${values.join(', ')}`)

export const integer = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`
  return z.number(message).int(message).min(min, message).max(max, message)
}

/**
 * RFC 3339, section 5.6, without leap seconds and the year 0, which JavaScript and PostgreSQL do not
 * represent.
 */
const INSTANT_SYNTAX =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/
const MAX_YEAR = 9999
const isYear = (year: number): boolean => year >= 1 && year <= MAX_YEAR

/** The text of an RFC 3339 instant whose year is 1 to 9999 in UTC. */
export const createInstantText = (message: string) =>
  z
    .string(message)
    .refine(
      (value) =>
        INSTANT_SYNTAX.test(value) &&
        isRealDate(...parseDate(value)) &&
        isYear(new Date(value).getUTCFullYear()),
      message,
    )
    .meta({ format: 'date-time', pattern: INSTANT_SYNTAX.source })

/** An RFC 3339 instant, as a Date. */
export const instant = createInstantText(
  'must be an RFC 3339 instant such as 2026-01-31T12:00:00Z',
).transform((value) => new Date(value))

/** A time range of a filter: at or after `gte`, and before `lt`. */
export const timeRange = z
  .strictObject(
    {
      gte: instant.nullish().meta({ description: 'At or after this instant.' }),
      lt: instant.nullish().meta({ description: 'Before this instant.' }),
    },
    { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object of gte and lt' : undefined) },
  )
  .meta({ typeName: 'DateTimeRange', description: 'A range of time; one of the bounds may be omitted.' })

/** The sort direction of a list. */
export const direction = defineEnum('OrderDirection', 'Order of a list.', {
  asc: 'Ascending: smallest or oldest first.',
  desc: 'Descending: greatest or newest first.',
}).shape

/** Converts the issues of a parse with `PARSE_OPTIONS` to one issue per field. */
export function toFieldIssues(error: z.ZodError): FieldIssue[] {
  return error.issues.flatMap((issue): FieldIssue[] => {
    const path = issue.path.join('.')
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({
        field: path ? `${path}.${key}` : key,
        description: 'is not a field of this request',
      }))
    const missing = issue.code === 'invalid_type' && issue.input === undefined && issue.path.length > 0
    return [{ field: path, description: missing ? 'is required' : issue.message }]
  })
}

const EXPECTATIONS: Record<string, string> = {
  object: 'must be an object',
  array: 'must be a list',
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
}

/**
 * How every input is parsed. `error` describes a value of another type where the shape itself does not, so
 * that callers never get the words of zod.
 */
export const PARSE_OPTIONS: z.core.ParseContext<z.core.$ZodIssue> = {
  reportInput: true,
  error: (issue) => (issue.code === 'invalid_type' ? EXPECTATIONS[issue.expected] : undefined),
}

/** Parses input by its shape. Throws InvalidInput that names every invalid field. */
export function parseInput<Shape extends z.ZodType>(shape: Shape, input: unknown): z.output<Shape> {
  const parsed = shape.safeParse(input, PARSE_OPTIONS)
  if (parsed.success) return parsed.data
  throw new InvalidInput(toFieldIssues(parsed.error))
}
