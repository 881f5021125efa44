import type { Sql } from '../database/db.ts'
import { statement } from '../database/statement.ts'

const SELECT_ORIGIN_LISTED = statement({ takes: { origin: 'text' }, returns: { isListed: 'boolean' } })`
  SELECT EXISTS (
    SELECT FROM "Client" WHERE "tenantId" = :tenant AND :origin = ANY ("allowedOrigins")
  ) AS "isListed"`

/** True when any client of the tenant lists the origin. */
export async function selectOriginListed(sql: Sql, tenant: string, origin: string): Promise<boolean> {
  return (await SELECT_ORIGIN_LISTED.first(sql, { tenant, origin }))?.isListed ?? false
}
