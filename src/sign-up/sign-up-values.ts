import * as z from 'zod'
import type { FieldIssue } from '../core/errors.ts'
import { METADATA_PREFIX, type MemberSchema } from '../model/sign-up.ts'
import { PARSE_OPTIONS } from '../schema/input-shapes.ts'
import type { SignUpField } from './sign-up-fields.ts'

/** Longest text of a member of userMetadata whose schema has no limit. */
const MAX_MEMBER_LENGTH = 1000

/** What is wrong with a member, in the words of the other fields. */
function describeIssue(issue: z.core.$ZodIssue): string | undefined {
  const isText = 'origin' in issue && issue.origin === 'string'
  if (issue.code === 'too_small')
    return `must ${isText ? `have at least ${issue.minimum} characters` : `be at least ${issue.minimum}`}`
  if (issue.code === 'too_big')
    return `must ${isText ? `have at most ${issue.maximum} characters` : `be at most ${issue.maximum}`}`
  if (issue.code === 'invalid_value') return `must be one of: ${issue.values.join(', ')}`
  if (issue.code === 'invalid_format')
    return `must be ${{ email: 'an email address', date: 'a date as YYYY-MM-DD' }[issue.format as string] ?? 'a web address'}`
  return undefined
}

/** The JSON value of an entry: HTML forms have texts only. */
function toMemberValue({ type }: MemberSchema, entry: string | undefined): unknown {
  if (type === 'boolean') return entry !== undefined
  if (entry === undefined || type === 'string') return entry
  const value = Number(entry)
  return Number.isFinite(value) ? value : entry
}

function validateMember({ name, schema }: SignUpField, entry: string | undefined) {
  const { type, ...keywords } = schema ?? { type: 'string' as const }
  const value = toMemberValue({ type }, entry)
  if (value === undefined) return { value, issues: [] }
  const limit = type === 'string' && !keywords.enum ? { maxLength: MAX_MEMBER_LENGTH, ...keywords } : keywords
  const parsed = z.fromJSONSchema({ type, ...limit }).safeParse(value, {
    ...PARSE_OPTIONS,
    error: (issue) => describeIssue(issue as z.core.$ZodIssue) ?? PARSE_OPTIONS.error?.(issue),
  })
  const [issue] = parsed.error?.issues ?? []
  return { value, issues: issue ? [{ field: name, description: issue.message }] : [] }
}

/**
 * The members of the new user, and what is wrong with the entries. The members of the profile are validated
 * where the user is created.
 */
export function toUserFields(
  fields: readonly SignUpField[],
  entries: Record<string, string>,
): { values: Record<string, unknown>; issues: FieldIssue[] } {
  const values: Record<string, unknown> = {}
  const userMetadata: Record<string, unknown> = {}
  const issues: FieldIssue[] = []
  for (const field of fields) {
    const entry = entries[field.name]
    if (field.isRequired && entry === undefined)
      issues.push({ field: field.name, description: 'is required' })
    else if (field.name.startsWith(METADATA_PREFIX)) {
      const member = validateMember(field, entry)
      issues.push(...member.issues)
      if (member.value !== undefined) userMetadata[field.name.slice(METADATA_PREFIX.length)] = member.value
    } else if (entry !== undefined) values[field.name] = entry
  }
  return { values: Object.keys(userMetadata).length > 0 ? { ...values, userMetadata } : values, issues }
}
