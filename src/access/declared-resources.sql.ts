import type { Sql } from '../database/db.ts'
import { statement } from '../database/statement.ts'

const SELECT_DECLARED = statement({ returns: { resource: 'text' } })`
  SELECT DISTINCT unnest("resources") AS "resource" FROM "Client"
  WHERE "tenantId" = :tenant AND cardinality("resources") > 0`

/** Returns the `resources` of all clients of the tenant, each once. */
export async function selectDeclaredResources(sql: Sql, tenant: string): Promise<string[]> {
  return (await SELECT_DECLARED.all(sql, { tenant })).map(({ resource }) => resource)
}
