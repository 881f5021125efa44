import type { Ctx } from '../context/context.ts'
import { requireStorage } from '../coordination/storage-budgets.ts'

/** A user with its index entries and events. */
const ACCOUNT_BYTES = 4000

/**
 * Counts a user whom a stranger creates in what the network may store. Throws RateLimited when that is used up.
 */
export const requireAccountStorage = (ctx: Ctx): Promise<void> =>
  requireStorage('account', ctx, { bytes: ACCOUNT_BYTES })
