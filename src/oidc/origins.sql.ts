import type { Sql } from '../db.ts'

const SELECT_LISTED = `
  SELECT EXISTS (SELECT FROM "Client" WHERE "tenantId" = $1 AND $2 = ANY ("allowedOrigins")) AS "isListed"`

/** Whether any client of the tenant lists the origin. */
export async function selectListed(sql: Sql, tenant: string, origin: string): Promise<boolean> {
  const [row] = await sql<{ isListed: boolean }>(SELECT_LISTED, [tenant, origin])
  return row?.isListed ?? false
}
