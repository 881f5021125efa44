import type pg from 'pg'
import type { Connection, KnownQuery } from './known-query.ts'

/**
 * Called once: with null when all statements were executed, otherwise with the error of one of them and those that
 * PostgreSQL skipped after it.
 */
export type BatchDone = (error: Error | null, skipped: readonly KnownQuery[]) => void

/**
 * Prepared statements that only read, for pg's client. They are sent at once with one Sync, so that the server executes
 * them in one transaction and answers at once. After the error of one, it skips those that follow.
 */
export class QueryBatch implements pg.Submittable {
  /** Set, so that pg's client does not set it. */
  readonly callback = (): void => {}
  readonly queries: readonly KnownQuery[]
  readonly #done: BatchDone
  readonly #sent: KnownQuery[] = []
  /** The number of statements that the server has executed. */
  #completed = 0

  constructor(queries: readonly KnownQuery[], done: BatchDone) {
    this.queries = queries
    this.#done = done
  }

  /** The name of the statement that the server executes: pg's client records under it what is prepared. */
  get name(): string {
    return this.#sent[this.#completed]?.name ?? ''
  }

  get text(): string {
    return this.queries.map(({ text }) => text).join(';\n')
  }

  submit(to: unknown): null {
    const connection = to as Connection
    connection.stream.cork()
    for (const query of this.queries)
      if (query.write(connection)) this.#sent.push(query)
      else query.handleReadyForQuery()
    connection.sync()
    connection.stream.uncork()
    return null
  }

  handleRowDescription(message: Parameters<KnownQuery['handleRowDescription']>[0]): void {
    this.#sent[this.#completed]?.handleRowDescription(message)
  }

  handleDataRow(message: Parameters<KnownQuery['handleDataRow']>[0]): void {
    this.#sent[this.#completed]?.handleDataRow(message)
  }

  handleCommandComplete(): void {
    const query = this.#sent[this.#completed]
    this.#completed += 1
    query?.handleCommandComplete()
    query?.handleReadyForQuery()
  }

  /** Statements have a text, no limit of rows, and copy nothing. */
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}

  handleError(error: Error, to: unknown): void {
    const { submittedNamedStatements, parsedStatements } = to as Connection
    const [failed, ...skipped] = this.#sent.slice(this.#completed)
    for (const { name } of skipped)
      if (parsedStatements[name] === undefined) delete submittedNamedStatements[name]
    failed?.handleError(error)
    this.#done(error, skipped)
  }

  handleReadyForQuery(): void {
    this.#done(null, [])
  }
}
