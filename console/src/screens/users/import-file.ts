import { commitMutation } from 'react-relay/hooks'
import { type Environment, fetchQuery, graphql } from 'relay-runtime'
import type {
  importFileHeaderQuery,
  importFileHeaderQuery$data,
} from '../../generated/importFileHeaderQuery.graphql.ts'
import type {
  importFileMutation,
  importFileMutation$data,
} from '../../generated/importFileMutation.graphql.ts'
import { findResponseProblem } from '../../parts/result.ts'
import { t } from '../../words/words.ts'

const MAX_FILE_BYTES = 30_000_000
/** A body of GraphQL has 100 KB at most, and its text 60,000 characters. */
const PART_CHARS = 50_000
const PART_BYTES = 85_000

/** A column that is left out. */
export const NO_FIELD = '-'

export type ImportHeader = NonNullable<importFileHeaderQuery$data['csvHeader']>
type Result = NonNullable<importFileMutation$data['importCsv']>
type Payload = { [Name in 'results' | 'consumed' | 'nextLine']: NonNullable<Result[Name]> }
export type FaultyLine = { line: number; reason: string; cells: readonly string[] }
export type Outcome = {
  lines: number
  created: number
  updated: number
  unchanged: number
  faulty: readonly FaultyLine[]
}

/**
 * The text of a file, and whether it was not UTF-8. Older versions of Excel on Windows write the encoding of the country.
 * Throws an error in words.
 */
export async function readFileText(file: File): Promise<{ text: string; isGuessed: boolean }> {
  if (file.size > MAX_FILE_BYTES) throw new Error(t('The file is larger than 30 MB.'))
  const bytes = new Uint8Array(await file.arrayBuffer())
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (bytes[0] === 0x50 && bytes[1] === 0x4b)
    throw new Error(t('This is not a CSV file. Save the spreadsheet as CSV first.'))
  if (isUtf16)
    return {
      text: new TextDecoder(bytes[0] === 0xff ? 'utf-16le' : 'utf-16be').decode(bytes),
      isGuessed: false,
    }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), isGuessed: false }
  } catch {
    return { text: new TextDecoder('windows-1252').decode(bytes), isGuessed: true }
  }
}

/** The next part of a text that fits into a request; it does not end within a character. */
function cutPart(text: string, start: number): string {
  for (let length = PART_CHARS; ; length = Math.floor(length / 2)) {
    const end = start + length
    const isSplit = /[\uD800-\uDBFF]/.test(text[end - 1] ?? '') && end < text.length
    const part = text.slice(start, isSplit ? end - 1 : end)
    if (length < 100 || new TextEncoder().encode(JSON.stringify(part)).length <= PART_BYTES) return part
  }
}

/** The columns of a file. Throws an error in words. */
export async function readHeader(environment: Environment, text: string): Promise<ImportHeader> {
  const csv = cutPart(text, 0)
  const { csvHeader } = (await fetchQuery<importFileHeaderQuery>(
    environment,
    graphql`
      query importFileHeaderQuery($csv: String!, $isLast: Boolean) {
        csvHeader(csv: $csv, isLast: $isLast) {
          delimiter
          columns {
            name
            field
            samples
          }
          fields
          consumed
          nextLine
        }
      }
    `,
    { csv, isLast: csv.length === text.length },
  ).toPromise()) as importFileHeaderQuery$data
  if (!csvHeader) throw new Error(t('The first line of the file cannot be read.'))
  return csvHeader
}

const MUTATION = graphql`
  mutation importFileMutation($input: ImportCsvInput!) {
    importCsv(input: $input) {
      ... on ImportCsvPayload {
        consumed
        nextLine
        results {
          line
          status
          message
          issues {
            field
            description
          }
          cells
          keys
        }
      }
      ...result_problem @alias(as: "problem") @relay(mask: false)
    }
  }
`

const importPart = (
  environment: Environment,
  input: importFileMutation['variables']['input'],
): Promise<Payload> =>
  new Promise((resolve, reject) => {
    commitMutation<importFileMutation>(environment, {
      mutation: MUTATION,
      variables: { input },
      onError: reject,
      onCompleted: (response, errors) => {
        const problem = findResponseProblem(response, errors)
        if (problem)
          reject(new Error([problem.message, ...problem.fields.map((issue) => issue.description)].join(' ')))
        else resolve(response.importCsv as Payload)
      },
    })
  })

const describe = (
  { message, issues }: Payload['results'][number],
  header: ImportHeader,
  columns: readonly string[],
): string =>
  issues
    .map(({ field, description }) => {
      const name = header.columns[columns.indexOf(field)]?.name ?? field
      return name ? `${name} ${description}` : description
    })
    .join('; ') ||
  (message ?? '')

export type ImportOptions = {
  header: ImportHeader
  /** The field of each column. */
  columns: readonly string[]
  dryRun: boolean
  /** Lines to leave out, which a dry run has found. */
  except: readonly number[]
  /** Is told the characters that are done; stops the import when it returns false. */
  onProgress: (outcome: Outcome, chars: number) => boolean
}

/**
 * Imports a file part by part, or tries it. A line with a unique value of an earlier line is faulty. Throws an error in
 * words; an import that is repeated changes nothing twice.
 */
export async function importText(
  environment: Environment,
  text: string,
  { header, columns, dryRun, except, onProgress }: ImportOptions,
): Promise<Outcome> {
  const lineByKey = new Map<string, number>()
  const faulty: FaultyLine[] = []
  const counts = { lines: 0, created: 0, updated: 0, unchanged: 0 }
  let line = header.nextLine
  for (let at = header.consumed; at < text.length; ) {
    const csv = cutPart(text, at)
    // A part has at most 500 lines of the file, which are not more than its characters.
    const last = line + csv.length
    const payload = await importPart(environment, {
      csv,
      isLast: at + csv.length === text.length,
      delimiter: header.delimiter,
      columns,
      line,
      dryRun,
      exceptLines: except.filter((number) => number >= line && number <= last).slice(0, 500),
    })
    for (const result of payload.results) {
      counts.lines += 1
      const earlier = dryRun
        ? result.keys.map((key) => lineByKey.get(key)).find((found) => found !== undefined)
        : undefined
      for (const key of result.keys) if (!lineByKey.has(key)) lineByKey.set(key, result.line)
      if (result.status === 'ERROR')
        faulty.push({
          line: result.line,
          reason: describe(result, header, columns),
          cells: result.cells,
        })
      else if (earlier !== undefined)
        faulty.push({
          line: result.line,
          reason: t('has an address or an id of line {earlier}', { earlier }),
          cells: result.cells,
        })
      else if (result.status === 'CREATED') counts.created += 1
      else if (result.status === 'UPDATED') counts.updated += 1
      else counts.unchanged += 1
    }
    at += payload.consumed
    line = payload.nextLine
    if (!onProgress({ ...counts, faulty: [...faulty] }, at)) break
  }
  return { ...counts, faulty }
}
