import { env } from '../core/env.ts'
import { isProtocolActive } from '../core/turns.ts'
import type { GateLimits } from './statement-gate.ts'

const toTenantShare = (total: number): number => Math.max(1, total - 1)

/** Statements that only read by keys share connections, so that few of them are enough. */
export const SHARED_READ_CONNECTIONS = Math.max(1, Math.floor(env.databaseConnections / 4))

const CHANGE_CONNECTIONS = Math.floor(env.databaseConnections / 2)
const LIST_CONNECTIONS = Math.max(2, Math.floor(env.databaseConnections * 0.3))

/**
 * Changes hold at most half of the main connections, so that the protocol always has the rest. While the protocol is in
 * use, those of one tenant run two at a time: more take the cores that it needs. See docs/decisions/0048.
 */
export const CHANGE_LIMITS: GateLimits = {
  total: CHANGE_CONNECTIONS,
  perTenant: () => Math.min(toTenantShare(CHANGE_CONNECTIONS), isProtocolActive() ? 2 : CHANGE_CONNECTIONS),
}

/**
 * Lists have connections of their own. A list takes a core of the database: while the protocol is in use, those
 * of one tenant run one at a time.
 */
export const LIST_LIMITS: GateLimits = {
  total: LIST_CONNECTIONS,
  perTenant: () => (isProtocolActive() ? 1 : toTenantShare(LIST_CONNECTIONS)),
}
