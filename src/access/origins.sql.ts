import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'

const SELECT_ORIGIN_LISTED = statement({ takes: { origin: 'text' }, returns: { isListed: 'boolean' } })`
  SELECT EXISTS (
    SELECT FROM "Client" WHERE "tenantId" = :tenant AND :origin = ANY ("allowedOrigins")
  ) AS "isListed"`

/** True when any client of the tenant lists the origin. */
export async function selectOriginListed(db: Db, origin: string): Promise<boolean> {
  return (await db.one(SELECT_ORIGIN_LISTED, { origin }))?.isListed ?? false
}
