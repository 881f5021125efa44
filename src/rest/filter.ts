import { z } from 'zod'
import type { FieldFault } from '../errors.ts'

/** The shape without what says that a value may be left out, or is changed on its way. */
function bareShape(shape: unknown): unknown {
  if (shape instanceof z.ZodOptional || shape instanceof z.ZodNullable) return bareShape(shape.def.innerType)
  if (shape instanceof z.ZodDefault || shape instanceof z.ZodReadonly) return bareShape(shape.def.innerType)
  if (shape instanceof z.ZodPipe)
    return bareShape(shape.def.in instanceof z.ZodTransform ? shape.def.out : shape.def.in)
  return shape
}

/** A member of a filter as a query parameter. An `open` one is a record: any name may follow its own and a dot. */
export type FilterParameter = { name: string; path: string[]; shape: z.ZodType; open: boolean }

/** The query parameters that a filter's shape comes to; members of a member object have dots: `createdAt.gte`. */
export function filterParameters(filter: z.ZodObject, above: string[] = []): FilterParameter[] {
  return Object.entries(filter.shape as Record<string, z.ZodType>).flatMap(([member, shape]) => {
    const path = [...above, member]
    const bare = bareShape(shape)
    if (bare instanceof z.ZodObject) return filterParameters(bare, path)
    return [{ name: path.join('.'), path, shape, open: bare instanceof z.ZodRecord }]
  })
}

/** Numbers, true, false and null are themselves, a quoted text goes without its quotes; everything else is text. */
function jsonScalar(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? text : value
  } catch {
    return text
  }
}

const DECIMAL = /^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?$/

/** A parameter's value as the shape has it; what is not written so goes to `refuse`. */
function readValue(shape: unknown, text: string, refuse: (description: string) => void): unknown {
  const wanted = bareShape(shape)
  if (wanted instanceof z.ZodBoolean)
    return text === 'true' || text === 'false' ? text === 'true' : refuse('must be true or false')
  if (wanted instanceof z.ZodNumber) return DECIMAL.test(text) ? Number(text) : refuse('must be a number')
  if (wanted instanceof z.ZodArray)
    return text.split(',').map((part) => readValue(wanted.def.element, part, refuse))
  return text
}

type Members = Map<string, unknown>

function setAt(members: Members, [name = '', ...below]: readonly string[], value: unknown): void {
  if (below.length === 0) return void members.set(name, value)
  const inner: Members = members.get(name) instanceof Map ? (members.get(name) as Members) : new Map()
  members.set(name, inner)
  setAt(inner, below, value)
}

/** fromEntries defines each member, so that none of them becomes the prototype. */
const toObject = (members: Members): Record<string, unknown> =>
  Object.fromEntries(
    [...members].map(([name, value]) => [name, value instanceof Map ? toObject(value) : value]),
  )

/**
 * Collects query parameters into the nested input that a filter's shape describes: booleans as `true` and `false`,
 * lists with commas, records as `appMetadata.plan=pro` (the value is a JSON scalar where it is one). `take` is false
 * for what is no parameter of the filter. The service judges the values.
 */
export function filterReader(filter: z.ZodObject) {
  const parameters = filterParameters(filter)
  const faults: FieldFault[] = []
  const members: Members = new Map()
  return {
    faults,
    take: (name: string, text: string): boolean => {
      const exact = parameters.find((parameter) => !parameter.open && parameter.name === name)
      if (exact) {
        const refuse = (description: string) => void faults.push({ field: name, description })
        const before = faults.length
        const value = readValue(exact.shape, text, refuse)
        // What was refused is named already, and must not be once more by the shape.
        if (faults.length === before) setAt(members, exact.path, value)
        return true
      }
      const record = parameters.find(({ open, name: of }) => open && name.startsWith(`${of}.`))
      const member = record && name.slice(record.name.length + 1)
      if (!record || !member) return false
      setAt(members, [...record.path, member], jsonScalar(text))
      return true
    },
    /** What can be written in place of a name that is no parameter, because only its members are. */
    membersOf: (name: string): string[] =>
      parameters
        .filter(
          (parameter) => parameter.name.startsWith(`${name}.`) || (parameter.open && parameter.name === name),
        )
        .map((parameter) => (parameter.open ? `${parameter.name}.{member}` : parameter.name)),
    result: () => toObject(members),
  }
}
