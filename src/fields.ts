import { z } from 'zod'
import { type FieldFault, InvalidInput } from './errors.ts'

/** U+0000 is refused by PostgreSQL and a lone surrogate is no Unicode text: both would end as a 500. */
const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed()

/** Text that can be stored, up to `max` UTF-16 units. */
export const text = (max = 1000) =>
  z
    .string('must be a string')
    .max(max, `must have ${max} characters at most`)
    .refine(isStorable, 'must not contain U+0000 or lone surrogates')

/** Text that must not be empty. */
export const requiredText = (max = 1000) => text(max).min(1, 'must not be empty')

/** A field of an update: omitted is unchanged, '' and null unset it (to null). */
export const clearable = <Shape extends z.ZodType>(shape: Shape) =>
  z.preprocess((value) => (value === '' ? null : value), shape.nullable()).optional()

export type UrlRules = {
  /** Also admit private-use schemes such as com.example.app: (RFC 8252, section 7.1). */
  customSchemes?: boolean
  /** Only scheme, host and port. */
  originOnly?: boolean
  /** https, or http on a loopback host. */
  secure?: boolean
  /** A link for people may lead into the middle of a page; a redirect target must not (RFC 6749, section 3.1.2). */
  fragment?: boolean
}

const SCRIPT_SCHEMES = new Set([
  'javascript:',
  'data:',
  'vbscript:',
  'blob:',
  'file:',
  'about:',
  'ws:',
  'wss:',
  'ftp:',
])
const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Why `value` may not be used as a URL, or null. Every argument that is a URL goes through here. */
export function urlFault(value: string, rules: UrlRules = {}): string | null {
  if (!URL.canParse(value)) return 'must be an absolute URL'
  const url = new URL(value)
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:'
  if (SCRIPT_SCHEMES.has(url.protocol) || (!isWeb && !rules.customSchemes))
    return 'must be an http or https URL'
  // RFC 8252, section 7.1: reversed domain names; a scheme without a dot is likely somebody else's.
  if (!isWeb && !url.protocol.includes('.'))
    return 'must use a scheme of reverse domain form, such as com.example.app:'
  if (url.username || url.password) return 'must not contain user information'
  if (!rules.fragment && value.includes('#')) return 'must not contain a fragment'
  if (/[\s\\]/.test(value)) return 'must not contain spaces or backslashes'
  if (rules.originOnly && value !== url.origin) return 'must be an origin such as https://example.com'
  if (rules.secure && url.protocol === 'http:' && !LOOPBACK_HOSTS.has(url.hostname))
    return 'must be an https URL (http on this machine only)'
  return null
}

/** A URL that people or clients may be sent to. */
export const allowedUrl = (rules: UrlRules = {}) =>
  text(2000)
    .superRefine((value, context) => {
      const fault = urlFault(value, rules)
      if (fault) context.addIssue(fault)
    })
    .meta({ format: 'uri' })

const METADATA_BYTES = 65_536
/** Deeper values overflow the stack of whoever reads them next, PostgreSQL included. */
const METADATA_DEPTH = 32

/** Why a value that came out of a JSON parser may not be stored, or null. */
function jsonFault(value: unknown, depth = 1): string | null {
  if (typeof value === 'string')
    return isStorable(value) ? null : 'must not contain U+0000 or lone surrogates'
  if (typeof value === 'number')
    return Number.isFinite(value) ? null : 'must not contain numbers out of range'
  if (value === null || typeof value === 'boolean') return null
  if (typeof value !== 'object') return 'must be JSON'
  if (depth > METADATA_DEPTH) return `must be nested ${METADATA_DEPTH} levels deep at most`
  for (const [name, member] of Object.entries(value)) {
    // A later assignment by this name would set the prototype of whatever it is copied to.
    if (name === '__proto__') return 'must not contain a member named __proto__'
    const fault = jsonFault(name, depth) ?? jsonFault(member, depth + 1)
    if (fault) return fault
  }
  return null
}

const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Free-form JSON object, 64 KB at most once serialised. */
export const metadata = z
  .custom<Record<string, unknown>>(isJsonObject, 'must be a JSON object')
  .superRefine((value, context) => {
    const fault =
      jsonFault(value) ??
      (Buffer.byteLength(JSON.stringify(value)) > METADATA_BYTES ? 'must have 64 KB at most' : null)
    if (fault) context.addIssue(fault)
  })
  .meta({ type: 'object', additionalProperties: {} })

export const boolean = z.boolean('must be true or false')
/** What is on or off: unset is off. */
export const flag = clearable(boolean)
  .transform((value) => (value === null ? false : value))
  .optional()

export const integer = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`
  return z.number(message).int(message).min(min, message).max(max, message)
}

/** PostgreSQL's timestamps begin and end elsewhere than JavaScript's: years that both have. */
const MAX_YEAR = 9999
const NOT_AN_INSTANT = 'must be an RFC 3339 instant such as 2026-01-31T12:00:00Z'

/** An instant as RFC 3339 writes it, to a Date. */
export const instant = z.iso
  .datetime({ offset: true, error: NOT_AN_INSTANT })
  .transform((value) => new Date(value))
  .refine((at) => at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= MAX_YEAR, NOT_AN_INSTANT)

/** Bounds of a time in a filter: at or after `gte`, before `lt`. */
export const timeRange = z.strictObject(
  {
    gte: instant.nullish().meta({ description: 'At or after this instant.', format: 'date-time' }),
    lt: instant.nullish().meta({ description: 'Before this instant.', format: 'date-time' }),
  },
  { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object of gte and lt' : undefined) },
)

/** Which end of a list comes first. */
export const direction = z.enum(['asc', 'desc'], 'must be asc or desc')

/** What is wrong, field by field, out of a parse with `reportInput`. */
export function faultsOf(error: z.ZodError): FieldFault[] {
  return error.issues.flatMap((issue): FieldFault[] => {
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

/** Checks input against its shape; throws InvalidInput that names every faulty field. */
export function parse<Shape extends z.ZodType>(shape: Shape, input: unknown): z.output<Shape> {
  const parsed = shape.safeParse(input, { reportInput: true })
  if (parsed.success) return parsed.data
  throw new InvalidInput(faultsOf(parsed.error))
}
