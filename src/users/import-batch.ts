import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../crypto.ts'
import type { Ctx } from '../ctx.ts'
import { inTransaction } from '../db.ts'
import {
  Conflict,
  describeError,
  type ErrorCode,
  type FieldFault,
  InvalidInput,
  NotFound,
} from '../errors.ts'
import { type NewEvent, recordEvents, wakeReaders } from '../events.ts'
import { log } from '../log.ts'
import { type Holder, insertUsers, type Keys, lockHolders, selectHolders, updateUsers } from './import.sql.ts'
import { planByKeys } from './plan-by-keys.sql.ts'
import type { UserColumns } from './user-body.ts'
import { flagFaults } from './users.fields.ts'
import { changeUser, createUserOf, creationEventsOf, eventsOf } from './users.ts'

/** Columns of which a value belongs to one user of a tenant. */
export const KEY_COLUMNS = ['externalId', 'emailKey', 'phoneNumberKey'] as const
export type KeyColumn = (typeof KEY_COLUMNS)[number]

/** A line that may be written, and by which of its keys its user is found. */
export type CheckedLine = {
  line: number
  columns: UserColumns
  key: { column: KeyColumn; value: string }
  /** The id that the user may have here: of lines without a key of their own. */
  id?: string
}

/** What became of a line. */
export type LineResult =
  | { line: number; status: 'created' | 'updated' | 'unchanged'; userId: string }
  | { line: number; status: 'error'; code: ErrorCode; message: string; fields: FieldFault[] }

/** A line of nothing but faults must not be answered by many times its length. */
const FAULTS = 100

/** The result of a line that could not be written, for whatever reason. */
export function failed(line: number, thrown: unknown): LineResult {
  const { code, message, fields, status, cause } = describeError(thrown)
  if (status >= 500) log.error({ line, err: cause ?? thrown }, 'a line could not be imported')
  return { line, status: 'error', code, message, fields: fields.slice(0, FAULTS) }
}

function keysOf(lines: readonly CheckedLine[]): Keys {
  const valuesOf = (column: KeyColumn) =>
    lines.map(({ columns }) => columns[column]).filter((value) => typeof value === 'string')
  return {
    id: lines.flatMap(({ id }) => id ?? []),
    externalId: valuesOf('externalId'),
    emailKey: valuesOf('emailKey'),
    phoneNumberKey: valuesOf('phoneNumberKey'),
  }
}

const isHeldBy =
  ({ key, id }: CheckedLine) =>
  (holder: Holder): boolean =>
    holder[key.column] === key.value || (id !== undefined && holder.id === id)

/** Without the externalId that stands in for an id: a user who has that id needs none. */
const columnsFor = ({ columns, id }: CheckedLine, holder: Holder): UserColumns => {
  if (holder.id !== id) return columns
  const { externalId: _, ...rest } = columns
  return rest
}

/** Roles ask for the caller's own, and a lock ends sessions: both are changes that a user gets alone. */
const isPlain = (columns: UserColumns, holder: Holder): boolean =>
  holder.roles.length === 0 && (columns.locked === undefined || columns.locked === holder.locked)

/** A flag that is not given stays only with its address, so that it needs no look. */
const faultsOf = (columns: UserColumns, holder?: Holder): FieldFault[] =>
  flagFaults({
    email: columns.email === undefined ? holder?.email : columns.email,
    emailVerified: columns.emailVerified,
    phoneNumber: columns.phoneNumber === undefined ? holder?.phoneNumber : columns.phoneNumber,
    phoneNumberVerified: columns.phoneNumberVerified,
  })

type Parts = {
  creations: (CheckedLine & { newId: string })[]
  changes: (CheckedLine & { holder: Holder })[]
  results: Map<number, LineResult>
}

/** Parts lines into those that are written together and the results that are clear; the rest is written one by one. */
function part(lines: readonly CheckedLine[], holders: readonly Holder[]): Parts {
  const byKey = new Map<string, Holder>()
  for (const holder of holders) {
    byKey.set(`id:${holder.id}`, holder)
    for (const column of KEY_COLUMNS) if (holder[column]) byKey.set(`${column}:${holder[column]}`, holder)
  }
  const parts: Parts = { creations: [], changes: [], results: new Map() }
  for (const line of lines) {
    const { columns, key, id } = line
    const holder = (id && byKey.get(`id:${id}`)) ?? byKey.get(`${key.column}:${key.value}`)
    const isContested = KEY_COLUMNS.some((column) => {
      const other = columns[column] ? byKey.get(`${column}:${columns[column]}`) : undefined
      return other !== undefined && other !== holder
    })
    if (isContested || (holder && !isPlain(columns, holder))) continue
    const faults = faultsOf(columns, holder || undefined)
    if (faults.length > 0) parts.results.set(line.line, failed(line.line, new InvalidInput(faults)))
    else if (holder) parts.changes.push({ ...line, columns: columnsFor(line, holder), holder })
    else parts.creations.push({ ...line, newId: newId('user') })
  }
  return parts
}

/** Writes what can be written together: at most seven round trips, however many lines. Answers their results. */
async function writeTogether(ctx: Ctx, lines: readonly CheckedLine[]): Promise<Map<number, LineResult>> {
  const results = await inTransaction(async (sql) => {
    await planByKeys(sql, ctx.tenant)
    const holders = await lockHolders(sql, ctx.tenant, keysOf(lines))
    const { creations, changes, results } = part(lines, holders)
    const events: NewEvent[] = []
    if (creations.length > 0) {
      // Imports of the same people in other orders wait for each other, rather than both for ever.
      creations.sort((a, b) => (a.key.value < b.key.value ? -1 : 1))
      const written = await insertUsers(
        sql,
        ctx.tenant,
        creations.map(({ newId, columns }) => ({ id: newId, columns })),
      )
      for (const { line, newId: userId, columns } of creations)
        if (written.has(userId)) {
          results.set(line, { line, status: 'created', userId })
          events.push(...creationEventsOf({ id: userId, locked: columns.locked ?? false, roles: [] }))
        }
    }
    if (changes.length > 0) {
      const changed = await updateUsers(
        sql,
        ctx.tenant,
        changes.map(({ holder, columns }) => ({ id: holder.id, columns })),
      )
      const changedOf = new Map(changed.map((row) => [row.id, row.changed]))
      for (const { line, holder } of changes) {
        const columns = changedOf.get(holder.id)
        results.set(line, { line, status: columns ? 'updated' : 'unchanged', userId: holder.id })
        if (columns) events.push(...eventsOf({ user: holder, changed: columns }))
      }
    }
    await recordEvents(sql, ctx, events)
    return results
  })
  wakeReaders(ctx.tenant)
  return results
}

/** Between finding a user and writing, others may create or delete them. */
const FINDS = 3

/** Writes one line with all that a change of its kind takes. */
async function writeAlone(ctx: Ctx, line: CheckedLine): Promise<LineResult> {
  for (let find = 1; ; find++) {
    try {
      const holders = await inTransaction(async (sql) => {
        await planByKeys(sql, ctx.tenant)
        return selectHolders(sql, ctx.tenant, keysOf([line]))
      })
      const holder = holders.find(({ id }) => id === line.id) ?? holders.find(isHeldBy(line))
      if (!holder) {
        const faults = faultsOf(line.columns)
        if (faults.length > 0) throw new InvalidInput(faults)
        const { id } = await createUserOf(ctx, line.columns)
        return { line: line.line, status: 'created', userId: id }
      }
      let isChanged = false
      await changeUser(ctx, holder.id, columnsFor(line, holder), ({ changed }) => {
        isChanged = changed.length > 0
        return []
      })
      return { line: line.line, status: isChanged ? 'updated' : 'unchanged', userId: holder.id }
    } catch (thrown) {
      const error = describeError(thrown)
      const isRaced = error instanceof NotFound || error instanceof Conflict
      if (error.code === 'UNAVAILABLE') throw thrown
      if (!isRaced || find === FINDS) return failed(line.line, thrown)
    }
  }
}

/** Deadlocks, timeouts and lost connections pass; what was written before is unchanged the next time. */
const TRIES_TOGETHER = 3
const TRIES_ALONE = 6
const FIRST_PAUSE_MS = 50
const ROUNDS = 2

async function persist<T>(tries: number, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work()
    } catch (thrown) {
      if (describeError(thrown).code !== 'UNAVAILABLE' || attempt === tries - 1) throw thrown
      await sleep(FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random()))
    }
  }
}

/**
 * Writes lines of which no two have a key in common, and answers their results in the order of the lines. No line fails
 * its neighbours. Throws Unavailable when the database does not answer for seconds; then any of them may be written.
 */
export async function writeBatch(ctx: Ctx, lines: readonly CheckedLine[]): Promise<LineResult[]> {
  const written = new Map<number, LineResult>()
  // Again for those that another import has just created: now they are found.
  for (let round = 1, rest = lines; round <= ROUNDS && rest.length > 0; round++) {
    const results = await persist(TRIES_TOGETHER, () => writeTogether(ctx, rest)).catch(
      // A change ran into another's key, or one line is more than the database takes: each shows for itself.
      () => new Map<number, LineResult>(),
    )
    for (const [line, result] of results) written.set(line, result)
    rest = lines.filter(({ line }) => !written.has(line))
    if (rest.length === 1) break
  }
  const results: LineResult[] = []
  for (const line of lines)
    results.push(written.get(line.line) ?? (await persist(TRIES_ALONE, () => writeAlone(ctx, line))))
  return results
}
