import { SYSTEM_TENANT } from '../core/scopes.ts'
import { Handle } from './handle.ts'

/**
 * The database for work on all tenants, whose statements require the tenant `system`: for jobs, the start and the command
 * line. A contract test lists its users.
 */
export const system = new Handle({ tenant: SYSTEM_TENANT })
