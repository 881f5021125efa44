import { consumeLimit } from '../coordination/rate-limits.ts'
import { requireStorage } from '../coordination/storage-budgets.ts'

/** A code with its counters and events, or the events of a guess. */
const PASSCODE_BYTES = 1000

/**
 * Counts a code that is requested or entered on a hosted page, or a passkey that was not accepted: in the limit of the network for the tenant, and in
 * what it may store in all tenants. The same for known and unknown addresses. A call of the management API counts
 * in the limit only: its caller says which network the user has, and could use up the budget of any. Throws
 * RateLimited.
 */
export async function limitStranger(
  name: 'sendPasscode' | 'authenticatePasscode' | 'rejectPasskey',
  tenant: string,
  ip: string | null,
): Promise<void> {
  await consumeLimit(name, tenant, ip)
  await requireStorage('passcode', { tenant, ip }, { bytes: PASSCODE_BYTES })
}
