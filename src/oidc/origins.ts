import { sql } from '../db.ts'
import { selectListed } from './origins.sql.ts'

/**
 * Whether a preflight from `origin` passes: an origin that any client of the tenant lists in allowedOrigins, byte for
 * byte. A preflight does not say whose request it announces.
 */
export const isListedOrigin = async (tenant: string, origin: string): Promise<boolean> =>
  !origin.includes('\u0000') && selectListed(sql, tenant, origin)
