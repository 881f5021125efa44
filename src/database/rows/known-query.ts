import pg from 'pg'
import type { ReadLimit } from '../../core/network/read-limit.ts'
import { type Column, getRowReader, type RowReader, type RowStyle } from './row-reader.ts'

/** The part of pg's connection that queries use. */
export type Connection = {
  stream: { cork(): void; uncork(): void }
  parsedStatements: Record<string, string | undefined>
  submittedNamedStatements: Record<string, string | undefined>
  parse(statement: { name?: string; text: string }): void
  bind(portal: { statement?: string; values: unknown[] }): void
  describe(portal: { type: 'P' }): void
  execute(portal: { rows?: number }): void
  close(statement: { type: 'S'; name: string }): void
  flush(): void
  sync(): void
  sendCopyFail(reason: string): void
}

type Done = (error: Error | null, result?: { rows: pg.QueryResultRow[] }) => void

const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils

/** Readers by the name of the statement; null without columns. */
type Readers = Map<string, RowReader | null>

/** The readers of the statements that a connection has prepared and described, in both styles. */
const knownReaders = new WeakMap<Connection, { dates: Readers; texts: Readers }>()

function getKnownReaders(connection: Connection) {
  let known = knownReaders.get(connection)
  if (!known) {
    known = { dates: new Map(), texts: new Map() }
    knownReaders.set(connection, known)
  }
  return known
}

/** Forgets the columns of a statement that the connection no longer has. */
export function forgetReader(connection: Connection, name: string): void {
  const known = knownReaders.get(connection)
  known?.dates.delete(name)
  known?.texts.delete(name)
}

/** Executes the portal further, or ends it when no more rows are taken. */
export function requestNextPart(connection: Connection, limit: ReadLimit | undefined): void {
  if (limit && !limit.isReached) {
    connection.execute({ rows: limit.partRows })
    connection.flush()
  } else connection.sync()
}

/**
 * A prepared statement for pg's client, which calls the `handle…` methods with the messages of the server. The
 * first time on a connection, it is parsed and described like a query of pg. Afterwards the columns are known:
 * it is bound and executed without a description. The server rejects a prepared statement whose
 * columns have changed. See docs/decisions/0093.
 */
export class KnownQuery implements pg.Submittable {
  readonly name: string
  readonly text: string
  /** Called once; pg's pool sets it. */
  callback: Done | undefined
  readonly values: readonly unknown[]
  readonly #rows: pg.QueryResultRow[] = []
  #reader: RowReader | null | undefined
  #known: Readers | undefined
  #error: Error | undefined
  readonly style: RowStyle
  readonly #partRows: number

  constructor(name: string, text: string, values: readonly unknown[], style: RowStyle = {}, callback?: Done) {
    this.name = name
    this.text = text
    this.values = values
    this.style = style
    this.#partRows = style.limit?.partRows ?? 0
    this.callback = callback
  }

  /** Sends the messages of the extended query protocol at once. */
  submit(to: unknown): null {
    const connection = to as Connection
    connection.stream.cork()
    // Sync would close the portal after the first part of the rows.
    if (this.write(connection) && this.#partRows > 0) connection.flush()
    else connection.sync()
    connection.stream.uncork()
    return null
  }

  /** Writes the messages before Sync. Writes nothing, and returns false, when a value has no text: that is the error. */
  write(connection: Connection): boolean {
    const { name } = this
    let values: unknown[]
    try {
      values = this.values.map((value) => prepareValue(value))
    } catch (error) {
      this.#error = error as Error
      return false
    }
    const { dates, texts } = getKnownReaders(connection)
    this.#known = this.style.datesAsText ? texts : dates
    const isPrepared =
      connection.parsedStatements[name] !== undefined ||
      connection.submittedNamedStatements[name] !== undefined
    if (!isPrepared) {
      forgetReader(connection, name)
      connection.parse({ name, text: this.text })
      connection.submittedNamedStatements[name] = this.text
    }
    this.#reader = this.#known.get(name)
    connection.bind({ statement: name, values })
    if (this.#reader === undefined) connection.describe({ type: 'P' })
    connection.execute({ rows: this.#partRows })
    return true
  }

  handleRowDescription({ fields }: { fields: Column[] }): void {
    this.#reader = getRowReader(fields, this.style)
  }

  handleDataRow({ fields, length }: { fields: (string | null)[]; length: number }): void {
    if (this.#error || this.style.limit?.take(length) === false) return
    try {
      if (!this.#reader) throw new Error('the server has sent a row and no description')
      this.#rows.push(this.#reader(fields))
    } catch (error) {
      this.#error = error as Error
    }
  }

  handleCommandComplete(_message?: unknown, connection?: Connection): void {
    if (this.#partRows > 0) connection?.sync()
    if (this.#known?.get(this.name) === undefined) this.#known?.set(this.name, this.#reader ?? null)
  }

  /** A statement with an empty text. */
  handleEmptyQuery(): void {}

  /** A part of the rows has arrived. */
  handlePortalSuspended(connection: Connection): void {
    requestNextPart(connection, this.style.limit)
  }

  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail('No source stream defined')
  }

  handleCopyData(): void {}

  handleError(error: Error, connection?: Connection): void {
    if (this.#partRows > 0) connection?.sync()
    this.#finish(this.#error ?? error)
  }

  handleReadyForQuery(): void {
    this.#finish(this.#error ?? null)
  }

  #finish(error: Error | null): void {
    const { callback } = this
    this.callback = undefined
    if (error) callback?.(error)
    else callback?.(null, { rows: this.#rows })
  }
}
