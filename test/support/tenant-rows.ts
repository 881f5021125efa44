import { sql } from './database.ts'

/** The tables with a column tenantId. */
export async function listTenantTables(): Promise<string[]> {
  const rows = await sql<{ name: string }>(
    `SELECT table_name AS "name" FROM information_schema.columns
     WHERE quote_ident(column_name) = '"tenantId"' AND table_schema = current_schema() AND $1 <> '' ORDER BY 1`,
    ['all'],
  )
  return rows.map(({ name }) => name)
}
