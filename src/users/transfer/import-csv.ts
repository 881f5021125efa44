import type { Ctx } from '../../context/context.ts'
import { InvalidInput } from '../../core/errors.ts'
import { parseInput } from '../../schema/input-shapes.ts'
import { type CsvRecord, findDelimiter, parseCsv } from './csv.ts'
import {
  CSV_FIELDS,
  type CsvColumns,
  findColumn,
  guessField,
  resolveColumns,
  toUserLine,
} from './csv-columns.ts'
import { CsvHeaderInput, CsvOptions, CsvPartInput, MAX_CSV_LINES, MAX_PART_LINES } from './import.fields.ts'
import { type ImportSummary, importSource, type SeenKeys, type SourceLine } from './import.ts'
import type { LineResult } from './import-lines.ts'

/** Maximum length of a record. One that is longer lacks a quotation mark. */
const MAX_RECORD_CHARS = 262_144
/** A record up to this length is read again with each chunk. */
const SMALL_RECORD_CHARS = 4096

/** Decodes a file. Throws InvalidInput for bytes that are not of the encoding. A byte order mark is removed. */
export async function* decodeChunks(
  chunks: AsyncIterable<Uint8Array>,
  charset: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(charset, { fatal: true })
  const decode = (bytes?: Uint8Array) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      throw new InvalidInput([
        {
          field: '',
          description: `the file is not ${charset}; if Excel on Windows wrote it, the charset may be windows-1252`,
        },
      ])
    }
  }
  for await (const chunk of chunks) yield decode(chunk)
  yield decode()
}

/** The records of a file, those that each chunk completes. */
export async function* readRecords(texts: AsyncIterable<string>): AsyncGenerator<CsvRecord[]> {
  let rest = ''
  let line = 1
  let delimiter: string | undefined
  const take = (isLast: boolean): CsvRecord[] => {
    delimiter ??= /[\r\n]/.test(rest) || isLast ? findDelimiter(rest) : undefined
    if (delimiter === undefined) return []
    const part = parseCsv(rest, { delimiter, line, isLast, limit: Number.POSITIVE_INFINITY })
    rest = rest.slice(part.consumed)
    line = part.nextLine
    return part.records
  }
  let tried = 0
  for await (const text of texts) {
    rest += text
    // A record that does not end is read again when it has grown by a part of itself, whatever the chunks have.
    if (tried > SMALL_RECORD_CHARS && rest.length < Math.min(tried * 1.125, MAX_RECORD_CHARS)) continue
    yield take(false)
    tried = rest.length
    if (rest.length > MAX_RECORD_CHARS)
      throw new InvalidInput([
        {
          field: '',
          description: `the record on line ${line} has more than ${MAX_RECORD_CHARS} characters; a quotation mark may be missing`,
        },
      ])
  }
  yield take(true)
}

/** A record as the source of an import. */
export const toSourceLine = ({ line, cells }: CsvRecord, columns: CsvColumns): SourceLine => ({
  number: line,
  bytes: cells.reduce((sum, cell) => sum + cell.length, 0),
  parse: () => toUserLine(cells, columns),
})

/** The results with the names of the columns. */
export const nameColumns = <Result extends LineResult | ImportSummary>(
  results: readonly Result[],
  columns: CsvColumns,
): Result[] =>
  results.map((result) => {
    if (!('status' in result) || result.status !== 'error') return result
    const fields = result.fields.map((issue) => {
      const column = findColumn(columns, issue.field)
      return column === undefined ? issue : { ...issue, column }
    })
    return { ...result, fields }
  })

/**
 * Imports users from a CSV file (docs/api.md) as `importUsers` does: the first record names the columns. A line whose
 * externalId, e-mail address or phone number an earlier line has is an error. Throws InvalidInput about the options, the
 * header and the encoding.
 */
export async function* importUsersFromCsv(
  ctx: Ctx,
  chunks: AsyncIterable<Uint8Array>,
  options: unknown = {},
  { maxLines = MAX_CSV_LINES }: { maxLines?: number } = {},
): AsyncGenerator<(LineResult | ImportSummary)[]> {
  const {
    matchBy,
    startLine = 2,
    dryRun = false,
    columns: given,
    charset = 'utf-8',
  } = parseInput(CsvOptions, options)
  let columns: CsvColumns | undefined
  async function* readLines(): AsyncGenerator<SourceLine[]> {
    for await (const records of readRecords(decodeChunks(chunks, charset))) {
      const header = columns ? undefined : records.shift()
      if (header) columns = resolveColumns(header.cells, given)
      const known = columns
      if (known)
        yield records.filter(({ line }) => line >= startLine).map((record) => toSourceLine(record, known))
    }
  }
  const rules = { matchBy, dryRun, lastLine: startLine + maxLines - 1, seenKeys: new Map<string, number>() }
  for await (const results of importSource(ctx, readLines(), rules))
    yield columns ? nameColumns(results, columns) : results
}

/** Lines whose cells a header has as samples. */
const SAMPLE_LINES = 3

/** The first line of a CSV file, with the fields that its names stand for. Throws InvalidInput when it does not end. */
export function readCsvHeader(input: unknown) {
  const { csv, isLast } = parseInput(CsvHeaderInput, input)
  const text = csv.replace(/^\uFEFF/, '')
  const delimiter = findDelimiter(text)
  const options = { delimiter, line: 1, isLast: isLast ?? false }
  const header = parseCsv(text, { ...options, limit: 1 })
  const [names] = header.records
  if (!names) throw new InvalidInput([{ field: 'csv', description: 'has no line that names the columns' }])
  const { records } = parseCsv(text, { ...options, limit: 1 + SAMPLE_LINES })
  return {
    delimiter,
    columns: names.cells.map((name, index) => ({
      name,
      field: guessField(name),
      samples: records.slice(1).map(({ cells }) => cells[index] ?? ''),
    })),
    fields: CSV_FIELDS,
    consumed: csv.length - text.length + header.consumed,
    nextLine: header.nextLine,
  }
}

/**
 * Imports a part of a CSV file, up to its last complete line and up to a number of lines. Returns where the next part
 * begins, and a result for each line. Throws InvalidInput about the options, and for a part without a complete line.
 */
export async function importCsv(ctx: Ctx, input: unknown) {
  const {
    csv,
    isLast,
    delimiter,
    columns: fields,
    line,
    exceptLines,
    dryRun,
  } = parseInput(CsvPartInput, input)
  const columns = resolveColumns(fields, fields)
  const part = parseCsv(csv, { delimiter, line, isLast: isLast ?? false, limit: MAX_PART_LINES })
  if (part.consumed === 0 && csv !== '')
    throw new InvalidInput([{ field: 'csv', description: `has no end of the record on line ${line}` }])
  const records = part.records.filter((record) => !exceptLines?.includes(record.line))
  const seenKeys: SeenKeys = new Map()
  const rules = { matchBy: undefined, dryRun: dryRun ?? false, lastLine: Number.POSITIVE_INFINITY, seenKeys }
  async function* readLines() {
    yield records.map((record) => toSourceLine(record, columns))
  }
  const results: LineResult[] = []
  for await (const some of importSource(ctx, readLines(), rules))
    results.push(...some.filter((result) => 'line' in result))
  const keysByLine = new Map<number, string[]>()
  for (const [key, number] of seenKeys) keysByLine.set(number, [...(keysByLine.get(number) ?? []), key])
  const cellsByLine = new Map(records.map((record) => [record.line, record.cells]))
  return {
    results: results.map((result) => ({
      line: result.line,
      status: result.status,
      userId: 'userId' in result ? (result.userId ?? null) : null,
      message: result.status === 'error' ? result.message : null,
      issues: result.status === 'error' ? result.fields : [],
      cells: cellsByLine.get(result.line) ?? [],
      keys: keysByLine.get(result.line) ?? [],
    })),
    consumed: part.consumed,
    nextLine: part.nextLine,
  }
}
