import * as z from 'zod'
import type { FieldIssue } from '../core/errors.ts'
import { parseExactJson } from '../core/json/exact-json.ts'
import { isKeptNumber } from '../schema/input-shapes.ts'

/** Unwraps optional, nullable, default, readonly and transformed shapes. */
function unwrapShape(shape: unknown): unknown {
  if (shape instanceof z.ZodOptional || shape instanceof z.ZodNullable)
    return unwrapShape(shape.def.innerType)
  if (shape instanceof z.ZodDefault || shape instanceof z.ZodReadonly) return unwrapShape(shape.def.innerType)
  if (shape instanceof z.ZodPipe)
    return unwrapShape(shape.def.in instanceof z.ZodTransform ? shape.def.out : shape.def.in)
  return shape
}

/**
 * A member of a filter as a query parameter. An open one is a record: its name is followed by a dot and any
 * name.
 */
export type FilterParameter = { name: string; path: string[]; shape: z.ZodType; isOpen: boolean }

/** Lists the query parameters of a filter. Members of nested objects have dots: `createdAt.gte`. */
export function listFilterParameters(filter: z.ZodObject, parents: string[] = []): FilterParameter[] {
  return Object.entries(filter.shape as Record<string, z.ZodType>).flatMap(([member, shape]) => {
    const path = [...parents, member]
    const unwrapped = unwrapShape(shape)
    if (unwrapped instanceof z.ZodObject) return listFilterParameters(unwrapped, path)
    return [{ name: path.join('.'), path, shape, isOpen: unwrapped instanceof z.ZodRecord }]
  })
}

/**
 * Parses a JSON number, boolean, null or string; any other text is returned unchanged, and so is a number that metadata
 * has only as a string.
 */
function parseJsonScalar(text: string): unknown {
  try {
    const value: unknown = parseExactJson(text)
    if (typeof value === 'number') return isKeptNumber(value) ? value : text
    return typeof value === 'object' && value !== null ? text : value
  } catch {
    return text
  }
}

const DECIMAL_SYNTAX = /^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?$/

/** Parses the value of a parameter to the type of its shape; calls `addIssue` for another format. */
function parseValue(shape: unknown, text: string, addIssue: (description: string) => void): unknown {
  const unwrapped = unwrapShape(shape)
  if (unwrapped instanceof z.ZodBoolean)
    return text === 'true' || text === 'false' ? text === 'true' : addIssue('must be true or false')
  if (unwrapped instanceof z.ZodNumber)
    return DECIMAL_SYNTAX.test(text) ? Number(text) : addIssue('must be a number')
  if (unwrapped instanceof z.ZodArray)
    return text.split(',').map((part) => parseValue(unwrapped.def.element, part, addIssue))
  return text
}

type Members = Map<string, unknown>

function setPath(members: Members, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) return void members.set(name, value)
  const inner: Members = members.get(name) instanceof Map ? (members.get(name) as Members) : new Map()
  members.set(name, inner)
  setPath(inner, rest, value)
}

/** Object.fromEntries defines own members, so that a member `__proto__` does not set the prototype. */
const toNestedObject = (members: Members): Record<string, unknown> =>
  Object.fromEntries(
    [...members].map(([name, value]) => [name, value instanceof Map ? toNestedObject(value) : value]),
  )

/**
 * Creates a reader that collects query parameters into the nested input of a filter: booleans as `true` and
 * `false`, lists separated by commas, records as `appMetadata.plan=pro` (the value is parsed as a JSON scalar
 * if it is one). The service validates the values.
 */
export function createFilterReader(filter: z.ZodObject) {
  const parameters = listFilterParameters(filter)
  const issues: FieldIssue[] = []
  const members: Members = new Map()
  return {
    issues,
    /** Adds a parameter; false when the filter has no such parameter. */
    addParameter: (name: string, text: string): boolean => {
      const exact = parameters.find((parameter) => !parameter.isOpen && parameter.name === name)
      if (exact) {
        const addIssue = (description: string) => void issues.push({ field: name, description })
        const countBefore = issues.length
        const value = parseValue(exact.shape, text, addIssue)
        // A value with an issue is omitted, so that the shape does not report it again.
        if (issues.length === countBefore) setPath(members, exact.path, value)
        return true
      }
      const record = parameters.find((parameter) => parameter.isOpen && name.startsWith(`${parameter.name}.`))
      const member = record && name.slice(record.name.length + 1)
      if (!record || !member) return false
      setPath(members, [...record.path, member], parseJsonScalar(text))
      return true
    },
    /** The parameters below a name that is not a parameter itself. */
    listMembers: (name: string): string[] =>
      parameters
        .filter(
          (parameter) =>
            parameter.name.startsWith(`${name}.`) || (parameter.isOpen && parameter.name === name),
        )
        .map((parameter) => (parameter.isOpen ? `${parameter.name}.{member}` : parameter.name)),
    toFilter: () => toNestedObject(members),
  }
}
