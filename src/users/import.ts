import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { prefixOf } from '../crypto.ts'
import type { Ctx } from '../ctx.ts'
import { AppError, InvalidInput } from '../errors.ts'
import { parse } from '../fields.ts'
import { type Line, readLines } from '../ndjson.ts'
import { ImportOptions, MATCH_BY, type MatchBy, UserLine } from './import.fields.ts'
import {
  type CheckedLine,
  failed,
  KEY_COLUMNS,
  type KeyColumn,
  type LineResult,
  writeBatch,
} from './import-batch.ts'
import { toColumns } from './user-body.ts'

/** A line carries two objects of 64 KB; escaped, they may be longer. */
const LINE_BYTES = 262_144
/** More than there are fields by far; each that is none would be named. */
const MEMBERS = 200
/** Lines that one import may process; more are imported by another one, from the next line on. */
const IMPORT_LINES = 1_000_000
/** A transaction of this size takes tenths of a second, and what it costs besides its lines no longer counts. */
export const BATCH_LINES = 500
const BATCH_BYTES = 1_048_576
/** Checked at a stretch: some 10 ms, after which everybody else of the process has a turn. */
const TURN_BYTES = 32_768
/** Whoever sends slowly learns of their lines no later than this, besides the time that writing takes. */
const LINGER_MS = 100

/** The last line of an answer: what came of the lines that were processed. */
export type ImportSummary = {
  summary: { lastLine: number; created: number; updated: number; unchanged: number; failed: number }
}

const COLUMN_OF: Record<MatchBy, KeyColumn> = {
  externalId: 'externalId',
  email: 'emailKey',
  phoneNumber: 'phoneNumberKey',
}

/** Checks a line. Throws InvalidInput that names every faulty field. */
function check({ number, text, fault }: Line, matchBy: MatchBy | undefined): CheckedLine {
  if (fault !== undefined) throw new InvalidInput([{ field: '', description: fault }])
  let input: unknown
  try {
    input = JSON.parse(text)
  } catch {
    throw new InvalidInput([{ field: '', description: 'is not valid JSON' }])
  }
  if (Object.keys(Object(input)).length > MEMBERS)
    throw new InvalidInput([{ field: '', description: `has more than ${MEMBERS} members` }])
  const { id, lockedAt, lastSeenAt, updatedAt, createdAt, externalId, ...fields } = parse(UserLine, input)
  const columns = { ...toColumns(fields), ...(externalId !== undefined && { externalId }) }
  const by = matchBy ?? MATCH_BY.find((field) => columns[COLUMN_OF[field]])
  const value = by && columns[COLUMN_OF[by]]
  if (by && value) return { line: number, columns, key: { column: COLUMN_OF[by], value } }
  if (matchBy)
    throw new InvalidInput([{ field: matchBy, description: 'is needed to find the user of the line' }])
  // An exported user without any of the three keeps the old id as what to be found by.
  if (typeof id === 'string' && prefixOf(id) === 'user')
    return {
      line: number,
      columns: { ...columns, externalId: id },
      key: { column: 'externalId', value: id },
      id,
    }
  throw new InvalidInput([
    {
      field: 'externalId',
      description: 'is needed where there is no email and no phoneNumber, so that the line can be repeated',
    },
  ])
}

/** A line that is to be written, or the fault that it has. */
type Entry = CheckedLine | LineResult
const isChecked = (entry: Entry): entry is CheckedLine => 'columns' in entry

function checkOrFail(line: Line, matchBy: MatchBy | undefined): Entry {
  try {
    return check(line, matchBy)
  } catch (error) {
    return failed(line.number, error)
  }
}

const keysOf = ({ columns }: CheckedLine): string[] =>
  KEY_COLUMNS.flatMap((column) => (columns[column] ? `${column}:${columns[column]}` : []))

/**
 * Reads and checks as many lines as are written together; null after the last. No two of a batch have a key in common,
 * so that lines take effect one after the other. A batch that lingers is handed out as it is.
 */
function batchesOf(lines: AsyncIterator<Line[]>, matchBy: MatchBy | undefined, lastLine: number) {
  let reading: Promise<IteratorResult<Line[]>> | undefined
  let waiting: { line: Line; entry?: Entry }[] = []
  return async (): Promise<Entry[] | null> => {
    const batch: Entry[] = []
    const keys = new Set<string>()
    let bytes = 0
    let turnBytes = 0
    let late: Promise<'late'> | undefined
    for (;;) {
      for (const [index, item] of waiting.entries()) {
        const leave = () => {
          waiting = waiting.slice(index)
          return batch
        }
        if (batch.length === BATCH_LINES || bytes >= BATCH_BYTES) return leave()
        if (item.line.number > lastLine) {
          if (batch.length > 0) return leave()
          const message = `An import takes ${IMPORT_LINES} lines at most; import the rest from line ${lastLine + 1} on.`
          throw new AppError('PAYLOAD_TOO_LARGE', 413, message)
        }
        item.entry ??= checkOrFail(item.line, matchBy)
        const own = isChecked(item.entry) ? keysOf(item.entry) : []
        if (own.some((key) => keys.has(key))) return leave()
        for (const key of own) keys.add(key)
        batch.push(item.entry)
        const length = item.line.text?.length ?? 0
        bytes += length
        turnBytes += length
        if (turnBytes >= TURN_BYTES) {
          turnBytes = 0
          await nextTurn()
        }
      }
      waiting = []
      reading ??= lines.next()
      if (batch.length > 0) late ??= sleep(LINGER_MS, 'late' as const, { ref: false })
      const read = await (late ? Promise.race([reading, late]) : reading)
      if (read === 'late') return batch
      reading = undefined
      if (read.done) return batch.length > 0 ? batch : null
      waiting = read.value.map((line) => ({ line }))
    }
  }
}

async function write(ctx: Ctx, batch: Entry[]): Promise<LineResult[]> {
  const checked = batch.filter(isChecked)
  const written = checked.length > 0 ? await writeBatch(ctx, checked) : []
  let next = 0
  return batch.map((entry) => (isChecked(entry) ? (written[next++] as LineResult) : entry))
}

async function* resultsOf(
  ctx: Ctx,
  lines: AsyncIterator<Line[]>,
  nextBatch: () => Promise<Entry[] | null>,
): AsyncGenerator<(LineResult | ImportSummary)[]> {
  const summary = { lastLine: 0, created: 0, updated: 0, unchanged: 0, failed: 0 }
  try {
    for (let batch = await nextBatch(); batch; ) {
      // The next lines are checked while these are written, and no more than those.
      const following = nextBatch()
      following.catch(() => {}) // thrown below, when it is its turn
      const results = await write(ctx, batch)
      for (const { line, status } of results) {
        summary.lastLine = line
        summary[status === 'error' ? 'failed' : status]++
      }
      yield results
      batch = await following
    }
    yield [{ summary }]
  } finally {
    // A read that is under way ends with its source, not now.
    lines.return?.().catch(() => {})
  }
}

/**
 * Imports users from NDJSON (README, "Import and export"): each line creates a user or changes the one that it matches.
 * Answers the results of the lines in their order, as many at once as were written together, and a summary in the end.
 * Reads no faster than the results are taken, and holds two batches and one chunk. A line that cannot be written is a
 * result; what ends the import is thrown: InvalidInput about the options (at once), Unavailable, or the error of
 * `chunks`. Lines that have a result are written; to go on, start with the next one. Repeating lines changes nothing.
 */
export function importUsers(
  ctx: Ctx,
  chunks: AsyncIterable<Uint8Array>,
  options: unknown = {},
  { maxLines = IMPORT_LINES }: { maxLines?: number } = {},
): AsyncGenerator<(LineResult | ImportSummary)[]> {
  const { matchBy, startLine = 1 } = parse(ImportOptions, options)
  const lines = readLines(chunks, { maxBytes: LINE_BYTES, startLine })
  return resultsOf(ctx, lines, batchesOf(lines, matchBy, startLine + maxLines - 1))
}
