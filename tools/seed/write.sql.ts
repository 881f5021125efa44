import { type Sql, sql } from '../../src/database/db.ts'

/** Rows of JSON have no defaults: columns that are not listed get the default of the table. */
const insert = (table: string, columns: readonly string[]): string => {
  const list = columns.map((column) => `"${column}"`).join(', ')
  return `INSERT INTO "${table}" ("tenantId", ${list})
    SELECT $1, ${list} FROM jsonb_populate_recordset(NULL::"${table}", $2::jsonb)`
}

const statements = new Map<string, string>()

/** Inserts rows that have the same columns in one statement. */
export async function insertRows(send: Sql, tenant: string, table: string, rows: object[]): Promise<void> {
  const [first] = rows
  if (!first) return
  const columns = Object.keys(first)
  const key = `${table}:${columns}`
  const statement = statements.get(key) ?? insert(table, columns)
  statements.set(key, statement)
  await send(statement, [tenant, JSON.stringify(rows)])
}

/** The number of users of a tenant. */
export async function countUsers(tenant: string): Promise<number> {
  const [row] = await sql<{ users: string }>(
    `SELECT COALESCE(sum("users"), 0)::text AS "users" FROM "UserCount" WHERE "tenantId" = $1`,
    [tenant],
  )
  return Number(row?.users ?? 0)
}
