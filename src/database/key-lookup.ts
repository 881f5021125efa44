/**
 * A condition on a row that a key finds. It is hidden from the index matcher: without statistics of a tenant, the planner
 * may prefer an index of the condition, and read every row of a client or of a user.
 */
export const checkFoundRow = (condition: string): string => `(${condition}) IS TRUE`

type KeyedTable = 'ApiKey' | 'Consent' | 'Grant' | 'Session' | 'User'

/**
 * A subquery for the row with a key, whose columns are compared with expressions: `JOIN LATERAL ${findByKey('User', {id:
 * 's."userId"'})} u ON true`. OFFSET 0 keeps other conditions of the statement out of it, for which the planner may choose
 * another index, or another order of the tables. The tenant is `:tenant` unless the key names another.
 */
export const findByKey = (table: KeyedTable, key: Readonly<Record<string, string>>): string => {
  const conditions = Object.entries({ tenantId: ':tenant', ...key })
  return `(SELECT * FROM "${table}" WHERE ${conditions.map(([column, value]) => `"${column}" = ${value}`).join(' AND ')} OFFSET 0)`
}
