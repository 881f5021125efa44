import { revokeUserConsent } from '../consents/consents.ts'
import type { Ctx } from '../ctx.ts'
import { requireOwnAccount } from '../scopes.ts'

/** Takes back what the caller agreed to for a client: also for the one that calls, whose token ends with it. */
export const revokeViewerConsent = (ctx: Ctx, clientId: string): Promise<{ revokedClientId: string }> =>
  revokeUserConsent(ctx, requireOwnAccount(ctx).userId, clientId, { assertMay: () => {} })
