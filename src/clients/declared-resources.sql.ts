import type { Sql } from '../db.ts'

/** The audiences of the APIs that clients of the tenant serve, each once. */
export async function selectDeclaredResources(sql: Sql, tenant: string): Promise<string[]> {
  const rows = await sql<{ resource: string }>(
    `SELECT DISTINCT unnest("resources") AS "resource" FROM "Client"
     WHERE "tenantId" = $1 AND cardinality("resources") > 0`,
    [tenant],
  )
  return rows.map(({ resource }) => resource)
}
