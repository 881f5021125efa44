import type pg from 'pg'
import { sha256Base64url } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import { KnownQuery } from './rows/known-query.ts'
import { type RowStyle, TEXT_DATES } from './rows/row-reader.ts'
import { assertTenantStatement } from './tenant-guard.ts'

/**
 * Values of a statement. The first is the tenant: every statement of a *.sql.ts file contains `"tenantId" =
 * $1`.
 */
export type SqlValues = [tenant: string, ...values: unknown[]]

let readsPlainRows = false

/** With `plain`, pg reads the rows of statements instead of the generated readers of `rows/`. */
export function readPlainRows(plain: boolean): void {
  readsPlainRows = plain
}

/** A connection keeps its named prepared statements until it is closed. */
const MAX_PREPARED_STATEMENTS = 1000
const statementNames = new Map<string, string>()
/**
 * PostgreSQL reuses plans by statement name. Texts contain no values, but GraphQL selections produce many
 * texts: beyond the limit, a statement is sent without a name and is not kept.
 */
export function getStatementName(text: string): string {
  if (env.databasePooler) return ''
  let name = statementNames.get(text)
  if (name === undefined && statementNames.size < MAX_PREPARED_STATEMENTS) {
    name = `v_${sha256Base64url(text).slice(0, 32)}`
    statementNames.set(text, name)
  }
  return name ?? ''
}

/** Raw-SQL counterpart of the Prisma tenant guard: throws for a statement without a tenant condition. */
export function toPreparedQuery(
  text: string,
  values: SqlValues,
  style?: RowStyle,
): pg.QueryConfig | KnownQuery {
  if (!statementNames.has(text)) assertTenantStatement(text)
  const name = getStatementName(text)
  return readsPlainRows || name === ''
    ? { ...toPlainQuery(text, values, style), name }
    : new KnownQuery(name, text, values, style)
}

/** A statement that pg reads. */
export const toPlainQuery = (text: string, values: SqlValues, style?: RowStyle): pg.QueryConfig => ({
  text,
  values,
  ...(style?.datesAsText && { types: TEXT_DATES }),
})

/** The rows of a query that `send` sends on a connection. */
export const readRows = (query: KnownQuery, send: (query: KnownQuery) => unknown): Promise<never[]> =>
  new Promise((resolve, reject) => {
    query.callback = (error, result) => (error ? reject(error) : resolve((result?.rows ?? []) as never[]))
    send(query)
  })
