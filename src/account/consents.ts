import { requireOwnChange } from '../access/require-scope.ts'
import { revokeUserConsent } from '../consents/consents.ts'
import type { Ctx } from '../context/context.ts'

/**
 * Revokes the caller's consent for a client, which may be the calling client, whose token ends with it.
 * Throws NotFound.
 */
export const revokeViewerConsent = (ctx: Ctx, clientId: string): Promise<{ revokedClientId: string }> =>
  revokeUserConsent(ctx, requireOwnChange(ctx).userId, clientId, { assertAllowed: () => {} })
