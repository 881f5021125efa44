import { type Db, Handle } from '../../src/database/handle.ts'
import { boundStatement, statement } from '../../src/database/statement.ts'

/** Rows of JSON have no defaults: columns that are not listed get the default of the table. */
const insert = (table: string, columns: readonly string[]): string => {
  const list = columns.map((column) => `"${column}"`).join(', ')
  return `INSERT INTO "${table}" ("tenantId", ${list})
    SELECT $1, ${list} FROM jsonb_populate_recordset(NULL::"${table}", $2::jsonb)`
}

const statements = new Map<string, string>()

/** Inserts rows that have the same columns in one statement. */
export async function insertRows(db: Db, table: string, rows: object[]): Promise<void> {
  const [first] = rows
  if (!first) return
  const columns = Object.keys(first)
  const key = `${table}:${columns}`
  const text = statements.get(key) ?? insert(table, columns)
  statements.set(key, text)
  await db.list(boundStatement({}, text, [db.tenant, JSON.stringify(rows)], { isPrepared: true }))
}

const COUNT_USERS = statement({ returns: { users: 'bigint' } })`
  SELECT COALESCE(sum("users"), 0)::bigint AS "users" FROM "UserCount" WHERE "tenantId" = :tenant`

/** The number of users of a tenant. */
export async function countUsers(tenant: string): Promise<number> {
  return Number((await new Handle({ tenant }).one(COUNT_USERS))?.users ?? 0)
}
