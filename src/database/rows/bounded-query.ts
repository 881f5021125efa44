import pg from 'pg'
import { AnswerTooLarge } from '../../core/errors.ts'
import type { ReadLimit } from '../../core/network/read-limit.ts'
import { type Connection, requestNextPart } from './known-query.ts'

/** No list has a result of more bytes. Prisma reads the rows of nested lists with those that contain them. */
const MAX_RESULT_BYTES = 32_000_000

type RowMessage = { fields: (string | null)[]; length: number }
type Done = (error: Error | null, result?: pg.QueryResult) => void
/** What pg's query object does with the messages of the server; its types have its constructor only. */
type MessageHandlers = {
  callback?: Done
  handleDataRow(message: RowMessage): void
  handlePortalSuspended(connection: Connection): void
  handleError(error: Error, connection: Connection): void
  handleReadyForQuery(connection: Connection): void
}
const Query = pg.Query as unknown as new (
  config: pg.QueryConfig & { rows?: number },
  values?: unknown,
  callback?: Done,
) => MessageHandlers & pg.Submittable

/**
 * A query that pg reads, of which rows beyond a limit are dropped as they arrive; without a limit, a result that is too
 * large is an error.
 */
export class BoundedQuery extends Query {
  readonly #limit: ReadLimit | undefined
  #bytes = 0

  constructor(config: pg.QueryConfig, limit?: ReadLimit, callback?: Done) {
    super(limit && limit.partRows > 0 ? { ...config, rows: limit.partRows } : config, undefined, callback)
    this.#limit = limit
  }

  override handleDataRow(message: RowMessage): void {
    this.#bytes += message.length
    if (this.#limit ? this.#limit.take(message.length) : this.#bytes <= MAX_RESULT_BYTES)
      super.handleDataRow(message)
  }

  override handlePortalSuspended(connection: Connection): void {
    requestNextPart(connection, this.#limit)
  }

  override handleError(error: Error, connection: Connection): void {
    // An error of this side, such as of a value or a row, comes after Sync: another one would end the next query early.
    if (this.#limit && this.#limit.partRows > 0 && error instanceof pg.DatabaseError) connection.sync()
    super.handleError(error, connection)
  }

  override handleReadyForQuery(connection: Connection): void {
    if (this.#limit || this.#bytes <= MAX_RESULT_BYTES) super.handleReadyForQuery(connection)
    else this.callback?.(new AnswerTooLarge())
  }
}

/** A client whose results are bounded. */
export class BoundedClient extends pg.Client {
  // pg's declarations of `query` are overloads of the same three arguments.
  override query(config: unknown, values?: unknown, callback?: unknown): never {
    const send = super.query.bind(this) as (query: unknown, values?: unknown, callback?: unknown) => never
    const isConfig = typeof config === 'object' && config !== null && !('submit' in config)
    if (!isConfig || Array.isArray(values)) return send(config, values, callback)
    const done = (callback ?? values) as Done | undefined
    if (done) return send(new BoundedQuery(config as pg.QueryConfig, undefined, done))
    return new Promise<pg.QueryResult | undefined>((resolve, reject) => {
      send(
        new BoundedQuery(config as pg.QueryConfig, undefined, (error, result) =>
          error ? reject(error) : resolve(result),
        ),
      )
    }) as never
  }
}
