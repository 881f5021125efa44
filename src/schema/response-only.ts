import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { type FieldIssue, InvalidInput } from '../core/errors.ts'

/** Fields that a change accepts with their returned values, and rejects otherwise (responseOnlyIssues). */
export const acceptEchoes = <Field extends string>(names: readonly Field[]) =>
  Object.fromEntries(
    names.map((name) => [
      name,
      z
        .unknown()
        .optional()
        .meta({ description: 'Ignored if it equals the returned value.', readOnly: true }),
    ]),
  ) as Record<Field, z.ZodOptional<z.ZodUnknown>>

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

/** Throws InvalidInput for response-only fields that were sent with another value than the current one. */
export function requireUnchanged<Field extends string>(
  fields: readonly Field[],
  sent: Partial<Record<Field, unknown>>,
  current: Record<Field, unknown>,
): void {
  const issues = responseOnlyIssues(fields, sent, current, fields)
  if (issues.length > 0) throw new InvalidInput(issues)
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
