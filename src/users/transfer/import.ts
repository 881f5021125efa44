import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises'
import { requireScope } from '../../access/require-scope.ts'
import { type CachedTenant, findTenant } from '../../access/tenant-cache.ts'
import type { Ctx } from '../../context/context.ts'
import { readIdPrefix } from '../../core/crypto.ts'
import { AppError, InvalidInput } from '../../core/errors.ts'
import { parseExactJson } from '../../core/json/exact-json.ts'
import { type NdjsonLine, readNdjsonLines } from '../../core/json/ndjson.ts'
import { takeTurn } from '../../core/turns.ts'
import { isMigrating } from '../../old-passwords/old-passwords.ts'
import { parseInput } from '../../schema/input-shapes.ts'
import { toUserColumns } from '../user-body.ts'
import { splitResponseOnly } from '../users.fields.ts'
import { ImportOptions, MATCH_BY, type MatchBy, UserLine } from './import.fields.ts'
import { writeBatch } from './import-batch.ts'
import {
  type CheckedLine,
  KEY_COLUMNS,
  type KeyColumn,
  type LineResult,
  toLineError,
} from './import-lines.ts'
import { type LineParts, listPartScopes } from './line-parts.fields.ts'

/** Maximum length of a line: two metadata objects of 64 KB, which escaping makes longer. */
const MAX_LINE_BYTES = 262_144
/** Maximum number of members of a line, because each unknown member is named in the result. */
const MAX_LINE_MEMBERS = 200
/** Maximum number of lines per import request. Another request continues from the next line. */
const MAX_IMPORT_LINES = 1_000_000
/** Lines per transaction. It takes tenths of a second, and the fixed cost per transaction is negligible. */
export const MAX_BATCH_LINES = 500
const MAX_BATCH_BYTES = 1_048_576
/** Lines that are validated in one turn: about 5 ms. */
const YIELD_BYTES = 16_384
/** A slow sender gets results after this time at the latest, plus the time for writing. */
const LINGER_MS = 100

/** The last line of a response: the summary of the processed lines. */
export type ImportSummary = {
  summary: { lastLine: number; created: number; updated: number; unchanged: number; failed: number }
}

const COLUMN_BY_MATCH: Record<MatchBy, KeyColumn> = {
  externalId: 'externalId',
  email: 'emailKey',
  phoneNumber: 'phoneNumberKey',
}

/** A line of NDJSON. Throws InvalidInput. */
function parseNdjsonLine({ text, error }: NdjsonLine): unknown {
  if (error !== undefined) throw new InvalidInput([{ field: '', description: error }])
  try {
    return parseExactJson(text)
  } catch {
    throw new InvalidInput([{ field: '', description: 'is not valid JSON' }])
  }
}

/** A line of a file, whose text is parsed when it is its turn. `bytes` is about its size. */
export type SourceLine = { number: number; bytes: number; parse: () => unknown }

/** Checks a line. Throws InvalidInput that names every invalid field. */
function checkLine({ number, parse }: SourceLine, { ctx, matchBy, tenant }: LineRules): CheckedLine {
  const input = parse()
  if (Object.keys(Object(input)).length > MAX_LINE_MEMBERS)
    throw new InvalidInput([{ field: '', description: `has more than ${MAX_LINE_MEMBERS} members` }])
  const {
    written: { externalId, proof, totpKey, identities, passkeys, appRoles, groups, organizations, ...fields },
    echoed: { id },
  } = splitResponseOnly(parseInput(UserLine, input))
  const parts: LineParts = { totpKey, identities, passkeys, appRoles, groups, organizations }
  const scopes = listPartScopes(parts)
  if (proof) requireScope(ctx, 'credentials:write')
  for (const scope of scopes) requireScope(ctx, scope)
  if (proof && !(tenant && isMigrating(tenant)))
    throw new InvalidInput([
      { field: 'proof', description: 'is accepted until the migrationEndsAt of the tenant only' },
    ])
  if (proof?.kind === 'url' && !tenant?.proofUrl)
    throw new InvalidInput([{ field: 'proof.url', description: 'needs the proofUrl of the tenant' }])
  const more = { hash: proof, ...(scopes.length > 0 && { parts }) }
  const columns = { ...toUserColumns(fields), ...(externalId !== undefined && { externalId }) }
  const by = matchBy ?? MATCH_BY.find((field) => columns[COLUMN_BY_MATCH[field]])
  const value = by && columns[COLUMN_BY_MATCH[by]]
  if (by && value) return { line: number, columns, ...more, key: { column: COLUMN_BY_MATCH[by], value } }
  if (matchBy)
    throw new InvalidInput([{ field: matchBy, description: 'is required to match the line to a user' }])
  // An exported user without any of the three keys is matched by the old id as externalId.
  if (typeof id === 'string' && readIdPrefix(id) === 'user')
    return {
      line: number,
      columns: { ...columns, externalId: id },
      ...more,
      key: { column: 'externalId', value: id },
      id,
    }
  throw new InvalidInput([
    {
      field: 'externalId',
      description: 'is required without email and phoneNumber, so that the line can be repeated',
    },
  ])
}

/** How the lines of a source are imported. With `seenKeys`, a line whose key an earlier one has is an error. */
type SourceRules = {
  matchBy: MatchBy | undefined
  dryRun: boolean
  lastLine: number
  seenKeys?: SeenKeys
}

/** What a line is checked against. */
type LineRules = Pick<SourceRules, 'matchBy' | 'seenKeys'> & { ctx: Ctx; tenant: CachedTenant | null }

/** A line to be written, or its error. */
type ImportEntry = CheckedLine | LineResult
const isCheckedLine = (entry: ImportEntry): entry is CheckedLine => 'columns' in entry

const listLineKeys = ({ columns }: CheckedLine): string[] =>
  KEY_COLUMNS.flatMap((column) => (columns[column] ? `${column}:${columns[column]}` : []))

/** The keys of the lines of a source so far, each with the number of its line. */
export type SeenKeys = Map<string, number>

/** Adds the keys of a line. Throws InvalidInput when an earlier line has one of them. */
function addKeys(line: CheckedLine, seenKeys: SeenKeys): void {
  for (const [field, column] of Object.entries(COLUMN_BY_MATCH)) {
    const earlier = seenKeys.get(`${column}:${line.columns[column]}`)
    if (earlier !== undefined) throw new InvalidInput([{ field, description: `is that of line ${earlier}` }])
  }
  for (const key of listLineKeys(line)) seenKeys.set(key, line.line)
}

function toImportEntry(line: SourceLine, rules: LineRules): ImportEntry {
  try {
    const checked = checkLine(line, rules)
    if (rules.seenKeys) addKeys(checked, rules.seenKeys)
    return checked
  } catch (error) {
    return toLineError(line.number, error)
  }
}

/**
 * Reads and validates a batch of lines; null after the last. Lines of a batch have no common keys, so that
 * lines take effect in order. An incomplete batch is returned after a timeout.
 */
function createBatchReader(ctx: Ctx, lines: AsyncIterator<SourceLine[]>, rules: SourceRules) {
  const { lastLine } = rules
  let reading: Promise<IteratorResult<SourceLine[]>> | undefined
  let waiting: { line: SourceLine; entry?: ImportEntry }[] = []
  return async (): Promise<ImportEntry[] | null> => {
    const tenant = await findTenant(ctx.tenant)
    const lineRules = { ...rules, ctx, tenant }
    const batch: ImportEntry[] = []
    const keys = new Set<string>()
    let bytes = 0
    let turnBytes = 0
    let late: Promise<'late'> | undefined
    for (;;) {
      for (const [index, item] of waiting.entries()) {
        const takeBatch = () => {
          waiting = waiting.slice(index)
          return batch
        }
        if (batch.length === MAX_BATCH_LINES || bytes >= MAX_BATCH_BYTES) return takeBatch()
        if (item.line.number > lastLine) {
          if (batch.length > 0) return takeBatch()
          const message = `An import takes ${MAX_IMPORT_LINES} lines at most; import the rest from line ${lastLine + 1} on.`
          throw new AppError('PAYLOAD_TOO_LARGE', 413, message)
        }
        item.entry ??= toImportEntry(item.line, lineRules)
        const own = isCheckedLine(item.entry) ? listLineKeys(item.entry) : []
        if (own.some((key) => keys.has(key))) return takeBatch()
        for (const key of own) keys.add(key)
        batch.push(item.entry)
        const length = item.line.bytes
        bytes += length
        turnBytes += length
        if (turnBytes >= YIELD_BYTES) {
          turnBytes = 0
          await (takeTurn(ctx) ?? nextRound())
        }
      }
      waiting = []
      reading ??= lines.next()
      if (batch.length > 0) late ??= sleep(LINGER_MS, 'late' as const, { ref: false })
      // Lines that have already arrived are taken before the timeout.
      const read = await (late ? Promise.race([reading, late.then((reason) => nextRound(reason))]) : reading)
      if (read === 'late') return batch
      reading = undefined
      if (read.done) return batch.length > 0 ? batch : null
      waiting = read.value.map((line) => ({ line }))
    }
  }
}

async function writeEntries(ctx: Ctx, batch: ImportEntry[], isDryRun: boolean): Promise<LineResult[]> {
  const checked = batch.filter(isCheckedLine)
  const written = checked.length > 0 ? await writeBatch(ctx, checked, isDryRun) : []
  let next = 0
  return batch.map((entry) => (isCheckedLine(entry) ? (written[next++] as LineResult) : entry))
}

async function* streamResults(
  ctx: Ctx,
  lines: AsyncIterator<SourceLine[]>,
  nextBatch: () => Promise<ImportEntry[] | null>,
  isDryRun: boolean,
): AsyncGenerator<(LineResult | ImportSummary)[]> {
  const summary = { lastLine: 0, created: 0, updated: 0, unchanged: 0, failed: 0 }
  try {
    for (let batch = await nextBatch(); batch; ) {
      // The next batch is validated while this one is written.
      const following = nextBatch()
      following.catch(() => {}) // rethrown below in order
      const results = await writeEntries(ctx, batch, isDryRun)
      for (const { line, status } of results) {
        summary.lastLine = line
        summary[status === 'error' ? 'failed' : status]++
      }
      yield results
      batch = await following
    }
    yield [{ summary }]
  } finally {
    // A pending read ends with its source.
    lines.return?.().catch(() => {})
  }
}

/**
 * Imports users from NDJSON (docs/api.md): each line creates a user or updates the user that it matches.
 * Yields the results of the lines in order, one batch at a time, and a summary at the end. Reads as fast as
 * the results are consumed, and holds two batches and one chunk. An invalid line is a result. Throws
 * InvalidInput about the options (before the first result), Unavailable, or the error of `chunks`. Lines with
 * a result are final; continue with the next line. Importing a line again changes nothing.
 */
export function importUsers(
  ctx: Ctx,
  chunks: AsyncIterable<Uint8Array>,
  options: unknown = {},
  { maxLines = MAX_IMPORT_LINES }: { maxLines?: number } = {},
): AsyncGenerator<(LineResult | ImportSummary)[]> {
  const { matchBy, startLine = 1, dryRun = false } = parseInput(ImportOptions, options)
  return importSource(ctx, readNdjson(chunks, startLine), {
    matchBy,
    dryRun,
    lastLine: startLine + maxLines - 1,
  })
}

async function* readNdjson(
  chunks: AsyncIterable<Uint8Array>,
  startLine: number,
): AsyncGenerator<SourceLine[]> {
  for await (const lines of readNdjsonLines(chunks, { maxBytes: MAX_LINE_BYTES, startLine }))
    yield lines.map((line) => ({
      number: line.number,
      bytes: line.text?.length ?? 0,
      parse: () => parseNdjsonLine(line),
    }))
}

/** Imports the lines of a source as `importUsers` does. A dry run writes nothing; a new user has no id. */
export const importSource = (
  ctx: Ctx,
  lines: AsyncIterator<SourceLine[]>,
  rules: SourceRules,
): AsyncGenerator<(LineResult | ImportSummary)[]> =>
  streamResults(ctx, lines, createBatchReader(ctx, lines, rules), rules.dryRun)
