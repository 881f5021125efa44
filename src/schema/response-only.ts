import { isDeepStrictEqual } from 'node:util'
import type { FieldIssue } from '../core/errors.ts'

export const CANNOT_BE_CHANGED = 'cannot be changed'
export const SET_BY_SERVICE = 'is set by the service'

/**
 * Whether a response-only field of a change came back as it is. A time may be spelled in any way that
 * Date.parse reads.
 */
export function isUnchanged(sent: unknown, current: unknown): boolean {
  if (current instanceof Date) return typeof sent === 'string' && Date.parse(sent) === current.getTime()
  return isDeepStrictEqual(sent, current)
}

/** An issue for each of these response-only fields that was sent with another value than the current one. */
export const responseOnlyIssues = <Field extends string>(
  fields: readonly Field[],
  sent: Partial<Record<Field, unknown>>,
  current: Record<Field, unknown>,
  fixed: readonly Field[] = [],
): FieldIssue[] =>
  fields
    .filter((field) => sent[field] !== undefined && !isUnchanged(sent[field], current[field]))
    .map((field) => ({ field, description: fixed.includes(field) ? CANNOT_BE_CHANGED : SET_BY_SERVICE }))
