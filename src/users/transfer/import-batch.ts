import { setTimeout as sleep } from 'node:timers/promises'
import { findGuardedUsers, requireAccountControl } from '../../access/account-control.ts'
import { shareRoles } from '../../access/held-roles.sql.ts'
import type { Ctx } from '../../context/context.ts'
import { Conflict, InvalidInput, NotFound } from '../../core/errors.ts'
import { toAppError } from '../../core/to-app-error.ts'
import type { NewEvent } from '../../events/create-event.ts'
import { recordEvents } from '../../events/log.ts'
import { storeOldPasswords } from '../../old-passwords/old-passwords.ts'
import { planByKeys } from '../list/index-planning.sql.ts'
import {
  changeUser,
  createUserChangeEvents,
  createUserCreationEvents,
  createUserFromColumns,
} from '../users.ts'
import {
  type CheckedLine,
  collectLookupKeys,
  createHolderTest,
  findFlagIssues,
  type LineResult,
  partitionLines,
  selectColumns,
  toLineError,
} from './import-lines.ts'
import { writeInTurns } from './import-turns.ts'
import { writeLineParts } from './line-parts.ts'
import { insertUserRows, lockHolders, selectHolders, updateUserRows } from './transfer.sql.ts'

/** The field of a line, in events and results, that has the hash. */
const PROOF_FIELD = 'proof'

/** The hashes of lines by their users. */
const listHashes = (lines: readonly (readonly [userId: string, line: CheckedLine])[]) =>
  lines.flatMap(([userId, { hash }]) => (hash ? [{ userId, hash }] : []))

/** Writes the lines that can be written together, in at most seven round trips, and four for hashes of passwords. Returns their results. */
async function writeTogether(ctx: Ctx, lines: readonly CheckedLine[]): Promise<Map<number, LineResult>> {
  const results = await ctx.db.transaction(async (tx) => {
    await planByKeys(tx)
    const holders = await lockHolders(tx, collectLookupKeys(lines))
    const guarded = await findGuardedUsers(
      tx,
      ctx,
      holders.map(({ id }) => id),
    )
    const { creations, changes, results } = partitionLines(lines, holders, guarded)
    const events: NewEvent[] = []
    if (creations.length > 0) {
      // One lock order, so that concurrent imports of the same users wait instead of deadlocking.
      creations.sort((a, b) => (a.key.value < b.key.value ? -1 : 1))
      const written = await insertUserRows(
        tx,
        creations.map(({ newId, columns }) => ({ id: newId, columns })),
      )
      const inserted = creations.filter(({ newId }) => written.has(newId))
      await storeOldPasswords(tx, listHashes(inserted.map((line) => [line.newId, line])))
      for (const { line, newId: userId, columns } of inserted) {
        results.set(line, { line, status: 'created', userId })
        events.push(...createUserCreationEvents({ id: userId, locked: columns.locked ?? false, roles: [] }))
      }
    }
    if (changes.length > 0) {
      const changed = await updateUserRows(
        tx,
        changes.map(({ holder, columns }) => ({ id: holder.id, columns })),
      )
      const changedOf = new Map(changed.map((row) => [row.id, row.changed]))
      const proven = await storeOldPasswords(tx, listHashes(changes.map((line) => [line.holder.id, line])))
      for (const { line, holder } of changes) {
        const columns = [...(changedOf.get(holder.id) ?? []), ...(proven.has(holder.id) ? [PROOF_FIELD] : [])]
        const isChanged = columns.length > 0
        results.set(line, { line, status: isChanged ? 'updated' : 'unchanged', userId: holder.id })
        if (isChanged) events.push(...createUserChangeEvents({ user: holder, changed: columns }))
      }
    }
    await recordEvents(tx, ctx, events)
    for (const { line, parts } of [...creations, ...changes]) {
      const result = results.get(line)
      if (!result || result.status === 'error' || result.userId === undefined) continue
      const isChanged = await writeLineParts(tx, ctx, result.userId, parts)
      if (isChanged && result.status === 'unchanged') results.set(line, { ...result, status: 'updated' })
    }
    return results
  })
  return results
}

/** Attempts per batch, because users may be created or deleted between the lookup and the write. */
const MAX_LOOKUPS = 3

/** Writes a user, and what else the line has in the same transaction. */
async function writeWithParts(
  ctx: Ctx,
  line: CheckedLine,
  write: (ctx: Ctx) => Promise<{ id: string; isChanged: boolean }>,
): Promise<{ id: string; isChanged: boolean }> {
  if (!line.hash && !line.parts) return write(ctx)
  return ctx.db.transaction(async (tx) => {
    const { id, isChanged } = await write({ ...ctx, db: tx.join() })
    const stored = await storeOldPasswords(tx, listHashes([[id, line]]))
    if (stored.size > 0)
      await recordEvents(
        tx,
        ctx,
        createUserChangeEvents({ user: { id, locked: false, roles: [] }, changed: [PROOF_FIELD] }),
      )
    const parts = await writeLineParts(tx, ctx, id, line.parts)
    return { id, isChanged: isChanged || stored.size > 0 || parts }
  })
}

/** Writes one line like a single create or update. */
async function writeSingly(ctx: Ctx, line: CheckedLine): Promise<LineResult> {
  for (let find = 1; ; find++) {
    try {
      const holders = await ctx.db.transaction(async (tx) => {
        await planByKeys(tx)
        return selectHolders(tx, collectLookupKeys([line]))
      })
      const holder = holders.find(({ id }) => id === line.id) ?? holders.find(createHolderTest(line))
      if (!holder) {
        const issues = findFlagIssues(line.columns)
        if (issues.length > 0) throw new InvalidInput(issues)
        const id = await writeWithParts(ctx, line, async (joined) => {
          const user = await createUserFromColumns(joined, line.columns)
          return { id: user.id, isChanged: true }
        })
        return { line: line.line, status: 'created', userId: id.id }
      }
      const { isChanged } = await writeWithParts(ctx, line, async (joined) => {
        let isChanged = false
        const user = await changeUser(joined, holder.id, selectColumns(line, holder), ({ changed }) => {
          isChanged = changed.length > 0
          return []
        })
        // They sign in as the user.
        if (line.hash || line.parts)
          await requireAccountControl(joined.db, ctx, {
            id: user.id,
            roles: await shareRoles(joined.db, user.roles),
          })
        return { id: holder.id, isChanged }
      })
      return { line: line.line, status: isChanged ? 'updated' : 'unchanged', userId: holder.id }
    } catch (thrown) {
      const error = toAppError(thrown)
      const isRaced = error instanceof NotFound || error instanceof Conflict
      if (error.code === 'UNAVAILABLE') throw thrown
      if (!isRaced || find === MAX_LOOKUPS) return toLineError(line.line, thrown)
    }
  }
}

/**
 * Retries after deadlocks, timeouts and lost connections. Lines that were already written are unchanged by a
 * retry.
 */
const MAX_BATCH_TRIES = 3
const MAX_SINGLE_TRIES = 6
const FIRST_PAUSE_MS = 50
const MAX_ROUNDS = 2

async function retryTransient<T>(tries: number, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work()
    } catch (thrown) {
      if (toAppError(thrown).code !== 'UNAVAILABLE' || attempt === tries - 1) throw thrown
      await sleep(FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random()))
    }
  }
}

/**
 * Writes lines without common keys, and returns their results in the order of the lines. An invalid line does
 * not affect the others. Throws Unavailable when the database does not answer for seconds; then any of the
 * lines may have been written.
 */
export const writeBatch = (
  ctx: Ctx,
  lines: readonly CheckedLine[],
  isDryRun: boolean,
): Promise<LineResult[]> =>
  writeInTurns(ctx, lines, (part) => (isDryRun ? tryLines(ctx, part) : writeLines(ctx, part)))

/** Carries the results out of a transaction that is rolled back. */
class DryRun extends Error {
  readonly results: LineResult[]

  constructor(results: LineResult[]) {
    super('a dry run is rolled back')
    this.results = results
  }
}

/** The results that writing the lines would have: they are written, and rolled back. A new user has no id. */
async function tryLines(ctx: Ctx, lines: readonly CheckedLine[]): Promise<LineResult[]> {
  try {
    return await ctx.db.transaction(async (tx) => {
      throw new DryRun(await writeLines({ ...ctx, db: tx.join() }, lines))
    })
  } catch (error) {
    if (!(error instanceof DryRun)) throw error
    return error.results.map((result) =>
      result.status === 'created' ? { line: result.line, status: result.status } : result,
    )
  }
}

async function writeLines(ctx: Ctx, lines: readonly CheckedLine[]): Promise<LineResult[]> {
  const written = new Map<number, LineResult>()
  // Retry for users that a concurrent import created: the lookup finds them now.
  for (let round = 1, rest = lines; round <= MAX_ROUNDS && rest.length > 0; round++) {
    const results = await retryTransient(MAX_BATCH_TRIES, () => writeTogether(ctx, rest)).catch(
      // A key conflict, or a line that the database rejects: writing the lines one by one shows which.
      () => new Map<number, LineResult>(),
    )
    for (const [line, result] of results) written.set(line, result)
    rest = lines.filter(({ line }) => !written.has(line))
    if (rest.length === 1) break
  }
  const results: LineResult[] = []
  for (const line of lines)
    results.push(
      written.get(line.line) ?? (await retryTransient(MAX_SINGLE_TRIES, () => writeSingly(ctx, line))),
    )
  return results
}
