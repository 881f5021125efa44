import { newId } from '../../core/crypto.ts'
import { type ErrorCode, type FieldIssue, InvalidInput } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { toAppError } from '../../core/to-app-error.ts'
import type { StoredProof } from '../../old-passwords/stored-proof.ts'
import type { UserColumns } from '../user-body.ts'
import { findVerificationIssues } from '../users.fields.ts'
import type { LineParts } from './line-parts.fields.ts'
import type { Holder, LookupKeys } from './transfer.sql.ts'

/** Columns whose values are unique in a tenant. */
export const KEY_COLUMNS = ['externalId', 'emailKey', 'phoneNumberKey'] as const
export type KeyColumn = (typeof KEY_COLUMNS)[number]

/** A valid line, and the key by which its user is found. */
export type CheckedLine = {
  line: number
  columns: UserColumns
  /** The password in the system that the user comes from: its hash, or the mark that it is asked. */
  hash?: StoredProof | undefined
  parts?: LineParts
  key: { column: KeyColumn; value: string }
  /** The id of the user, for lines without another key. */
  id?: string
}

/** The result of a line. */
export type LineResult =
  | { line: number; status: 'created' | 'updated' | 'unchanged'; userId?: string }
  | { line: number; status: 'error'; code: ErrorCode; message: string; fields: LineIssue[] }

/** An issue of a line, with the name of its column in a CSV file. */
export type LineIssue = FieldIssue & { column?: string }

/** Maximum number of reported issues per line, so that a result is not many times longer than its line. */
const MAX_LINE_ISSUES = 100

/** The result of a line that could not be written. */
export function toLineError(line: number, thrown: unknown): LineResult {
  const { code, message, fields, status, cause } = toAppError(thrown)
  if (status >= 500) log.error({ line, err: cause ?? thrown }, 'a line could not be imported')
  return { line, status: 'error', code, message, fields: fields.slice(0, MAX_LINE_ISSUES) }
}

export function collectLookupKeys(lines: readonly CheckedLine[]): LookupKeys {
  const listValues = (column: KeyColumn) =>
    lines.map(({ columns }) => columns[column]).filter((value) => typeof value === 'string')
  return {
    id: lines.flatMap(({ id }) => id ?? []),
    externalId: listValues('externalId'),
    emailKey: listValues('emailKey'),
    phoneNumberKey: listValues('phoneNumberKey'),
  }
}

export const createHolderTest =
  ({ key, id }: CheckedLine) =>
  (holder: Holder): boolean =>
    holder[key.column] === key.value || (id !== undefined && holder.id === id)

/** Removes an externalId that equals the id of an existing user. */
export const selectColumns = ({ columns, id }: CheckedLine, holder: Holder): UserColumns => {
  if (holder.id !== id) return columns
  const { externalId: _, ...rest } = columns
  return rest
}

/**
 * Users with roles need a check of the caller, and a lock ends sessions: such changes are written one by one. `guarded`
 * are the users with roles at APIs that the caller may not give.
 */
const isBatchable = (columns: UserColumns, holder: Holder, guarded: ReadonlySet<string>): boolean =>
  holder.roles.length === 0 &&
  !guarded.has(holder.id) &&
  (columns.locked === undefined || columns.locked === holder.locked)

/** A verified flag that is not given is kept only for an unchanged address. */
export const findFlagIssues = (columns: UserColumns, holder?: Holder): FieldIssue[] =>
  findVerificationIssues({
    email: columns.email === undefined ? holder?.email : columns.email,
    emailVerified: columns.emailVerified,
    phoneNumber: columns.phoneNumber === undefined ? holder?.phoneNumber : columns.phoneNumber,
    phoneNumberVerified: columns.phoneNumberVerified,
  })

type BatchParts = {
  creations: (CheckedLine & { newId: string })[]
  changes: (CheckedLine & { holder: Holder })[]
  results: Map<number, LineResult>
}

/**
 * Splits lines into those that are written together and those with a final result. Other lines are written
 * one by one.
 */
export function partitionLines(
  lines: readonly CheckedLine[],
  holders: readonly Holder[],
  guarded: ReadonlySet<string>,
): BatchParts {
  const byKey = new Map<string, Holder>()
  for (const holder of holders) {
    byKey.set(`id:${holder.id}`, holder)
    for (const column of KEY_COLUMNS) if (holder[column]) byKey.set(`${column}:${holder[column]}`, holder)
  }
  const parts: BatchParts = { creations: [], changes: [], results: new Map() }
  for (const line of lines) {
    const { columns, key, id } = line
    const holder = (id && byKey.get(`id:${id}`)) ?? byKey.get(`${key.column}:${key.value}`)
    const isContested = KEY_COLUMNS.some((column) => {
      const other = columns[column] ? byKey.get(`${column}:${columns[column]}`) : undefined
      return other !== undefined && other !== holder
    })
    if (isContested || (holder && !isBatchable(columns, holder, guarded))) continue
    const issues = findFlagIssues(columns, holder || undefined)
    if (issues.length > 0) parts.results.set(line.line, toLineError(line.line, new InvalidInput(issues)))
    else if (holder) parts.changes.push({ ...line, columns: selectColumns(line, holder), holder })
    else parts.creations.push({ ...line, newId: newId('user') })
  }
  return parts
}
