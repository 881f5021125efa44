import { useEffect, useRef, useState } from 'react'
import { useRelayEnvironment } from 'react-relay/hooks'
import type { Environment, GraphQLTaggedNode, Variables } from 'relay-runtime'
import { t } from '../words/words.ts'
import { Dialog } from './dialog.tsx'
import { sendQuery } from './use-list.ts'

/** The queries of an export. */
export type ListExport = {
  /** A page of the list, as `list`, by `first` and `after`. */
  query: GraphQLTaggedNode
  /** Rows by their ids, as `nodes`, where they can be selected. */
  selectedQuery?: GraphQLTaggedNode
  /** The columns of CSV, members of objects joined with dots. */
  paths: readonly string[]
}

type Format = 'csv' | 'ndjson'
type ExportedRow = Record<string, unknown>
type Connection = {
  nodes: ExportedRow[]
  pageInfo: { endCursor: string | null; hasNextPage: boolean }
}

/** The most rows that the server gives at once: of a list, and by their ids. */
const PAGE_SIZE = 1000
const MAX_IDS = 100

/** A text that a spreadsheet would compute; phone numbers and times are none. */
const FORMULA = /^[=+\-@\t\r](?![\d\s()./:-]+$)/

/** By this, Excel knows that a file is UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF'

/** Safari reads the file only after it has asked the person; by then, the download has begun. */
const BEGUN_MS = 60_000

/** A value in CSV (RFC 4180). What people entered must not become a formula of the spreadsheet that opens it. */
export function toCsvValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = Array.isArray(value)
    ? value.join(' ')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)
  const harmless = FORMULA.test(text) ? `'${text}` : text
  return /[",;\t\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** A line of CSV. */
export const toCsvLine = (values: readonly unknown[], delimiter = ','): string =>
  `${values.map((value) => toCsvValue(value)).join(delimiter)}\r\n`

const readPath = (row: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as ExportedRow | null | undefined)?.[name], row)

/** A row in JSON. Members that the compiler adds to each query begin with two underscores, and are left out. */
const toJson = (row: ExportedRow): string =>
  JSON.stringify(row, (name, value) => (name.startsWith('__') ? undefined : value))

const toLines = (rows: readonly ExportedRow[], format: Format, paths: readonly string[]): string =>
  rows
    .map((row) =>
      format === 'csv' ? toCsvLine(paths.map((path) => readPath(row, path))) : `${toJson(row)}\n`,
    )
    .join('')

/** The rows in turns: of the whole list, or with these ids. */
async function* readRows(
  environment: Environment,
  { query, selectedQuery }: ListExport,
  variables: Variables,
  ids: readonly string[] | null,
): AsyncGenerator<ExportedRow[]> {
  if (ids && selectedQuery) {
    for (let start = 0; start < ids.length; start += MAX_IDS) {
      const { data } = await sendQuery(environment, selectedQuery, { ids: ids.slice(start, start + MAX_IDS) })
      yield (data.nodes as (ExportedRow | null)[]).filter((row) => row !== null)
    }
    return
  }
  let after: string | null = null
  do {
    const { data } = await sendQuery(environment, query, { ...variables, first: PAGE_SIZE, after })
    const { nodes, pageInfo } = data.list as Connection
    yield nodes
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null
  } while (after !== null)
}

/** Saves a file of the parts. */
export function saveFile(name: string, parts: readonly Blob[]): void {
  const url = URL.createObjectURL(new Blob([...parts]))
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), BEGUN_MS)
}

/** A menu that saves the rows of a list, or those that are selected, as a file. */
export function ListExportMenu({
  list,
  describeCount,
  exported,
  variables,
  total,
  ids,
}: {
  list: string
  describeCount: (count: number) => string
  exported: ListExport
  variables: Variables
  total: number
  /** Null for all rows of the list. */
  ids: readonly string[] | null
}) {
  const [format, setFormat] = useState<Format | null>(null)
  const count = ids?.length ?? total
  return (
    <>
      <select
        className="chip export"
        aria-label={t('Export {rows}', { rows: describeCount(count) })}
        value=""
        disabled={count === 0}
        onChange={({ target }) => setFormat(target.value as Format)}
      >
        <option value="">{ids ? t('Export {count} selected', { count }) : t('Export')}</option>
        <option value="csv">CSV</option>
        <option value="ndjson">NDJSON</option>
      </select>
      {format && (
        <ExportDialog
          list={list}
          exported={exported}
          variables={variables}
          ids={ids}
          count={count}
          format={format}
          onClose={() => setFormat(null)}
        />
      )}
    </>
  )
}

/** Reads all rows, then saves the file; closing it stops the export. */
function ExportDialog({
  list,
  exported,
  variables,
  ids,
  count,
  format,
  onClose,
}: {
  list: string
  exported: ListExport
  variables: Variables
  ids: readonly string[] | null
  count: number
  format: Format
  onClose: () => void
}) {
  const environment = useRelayEnvironment()
  const [done, setDone] = useState(0)
  const [problem, setProblem] = useState<string | null>(null)
  const given = useRef({ exported, variables, ids, onClose })
  useEffect(() => {
    let isStopped = false
    const { exported, variables, ids, onClose } = given.current
    const run = async () => {
      // Parts of a Blob need not be in memory.
      const parts = format === 'csv' ? [new Blob([`${BYTE_ORDER_MARK}${exported.paths.join(',')}\r\n`])] : []
      let rows = 0
      for await (const page of readRows(environment, exported, variables, ids)) {
        if (isStopped) return
        parts.push(new Blob([toLines(page, format, exported.paths)]))
        rows += page.length
        setDone(rows)
      }
      if (isStopped) return
      saveFile(`${list}-${new Date().toISOString().slice(0, 10)}.${format}`, parts)
      onClose()
    }
    run().catch((error: Error) => setProblem(error.message))
    return () => {
      isStopped = true
    }
  }, [environment, format, list])
  return (
    <Dialog title={t('Export as {format}', { format: format.toUpperCase() })} onClose={onClose}>
      {problem === null ? (
        <p role="status">
          <progress max={count} value={done} aria-label={t('Rows')} />{' '}
          {t('{done} of {count}', { done, count })}
        </p>
      ) : (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <p className="actions">
        <button type="button" className="button quiet" onClick={onClose}>
          {problem === null ? t('Cancel') : t('Close')}
        </button>
      </p>
    </Dialog>
  )
}
