import { Handle } from '../database/handle.ts'
import { selectOriginListed } from './client.sql.ts'

/**
 * True when any client of the tenant lists `origin` in allowedOrigins, compared byte for byte. For preflight
 * requests, which do not identify the client.
 */
export const isListedOrigin = async (tenant: string, origin: string): Promise<boolean> =>
  !origin.includes('\u0000') && selectOriginListed(new Handle({ tenant }), origin)
