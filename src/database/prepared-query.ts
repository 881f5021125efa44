import type pg from 'pg'
import { BoundedQuery } from './rows/bounded-query.ts'
import { KnownQuery } from './rows/known-query.ts'
import { type RowStyle, TEXT_DATES } from './rows/row-reader.ts'
import { getStatementName } from './statement-names.ts'
import { assertTenantStatement } from './tenant-guard.ts'

/**
 * Values of a statement. The first is the tenant: every statement of a *.sql.ts file contains `"tenantId" =
 * $1`.
 */
export type SqlValues = [tenant: string, ...values: unknown[]]

/** A statement with its values, as pg's client takes it. */
export type SqlQuery = pg.QueryConfig | KnownQuery | BoundedQuery

let readsPlainRows = false

/** With `plain`, pg reads the rows of statements instead of the generated readers of `rows/`. */
export function readPlainRows(plain: boolean): void {
  readsPlainRows = plain
}

/** Raw-SQL counterpart of the Prisma tenant guard: throws for a statement without a tenant condition. */
export function toPreparedQuery(text: string, values: SqlValues, style?: RowStyle): SqlQuery {
  const name = getStatementName(text, assertTenantStatement)
  return readsPlainRows || name === ''
    ? toPlainQuery(text, values, style, name)
    : new KnownQuery(name, text, values, style)
}

/** A statement that pg reads. */
export function toPlainQuery(
  text: string,
  values: SqlValues,
  style?: RowStyle,
  name?: string,
): pg.QueryConfig | BoundedQuery {
  const config: pg.QueryConfig = { text, values, name, ...(style?.datesAsText && { types: TEXT_DATES }) }
  return style?.limit ? new BoundedQuery(config, style.limit) : config
}

/** The rows of a query that `send` sends on a connection. */
export const readRows = <Query extends KnownQuery | BoundedQuery>(
  query: Query,
  send: (query: Query) => unknown,
): Promise<never[]> =>
  new Promise((resolve, reject) => {
    query.callback = (error: Error | null, result?: { rows: unknown[] }) =>
      error ? reject(error) : resolve((result?.rows ?? []) as never[])
    send(query)
  })
