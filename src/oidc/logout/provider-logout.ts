import { recordFirstUse } from '../../access/dpop/used-proofs.sql.ts'
import { revokeSessions } from '../../access/revocation/revocation.ts'
import type { Ctx } from '../../context/context.ts'
import { InvalidInput } from '../../core/errors.ts'
import { toEpochSeconds } from '../../core/time.ts'
import type { IdentityProvider } from '../../generated/prisma/client.ts'
import { MAX_LOGOUT_TOKEN_AGE_SECONDS, verifyLogoutToken } from '../../idps/provider/provider-logout-token.ts'
import { selectProviderSessionUsers } from '../../idps/provider/provider-sessions.sql.ts'
import { clearIdTokens } from '../../idps/provider/provider-sessions.ts'
import { lockUserRow } from '../../users/lock-user.sql.ts'

/**
 * Ends the sessions that came from those at an identity provider that a logout token names (OpenID Connect
 * Back-Channel Logout 1.0, section 2.7), with what was issued in them except offline grants. None is a
 * success: the user is signed out. Throws InvalidInput about `logout_token`, also for a repeated one, and
 * Unavailable.
 */
export async function logOutByProvider(ctx: Ctx, row: IdentityProvider, token: string): Promise<void> {
  const now = new Date()
  const { jti, ...named } = await verifyLogoutToken(row, token, now)
  const key = { idpId: row.id, ...named }
  const untilSeconds = toEpochSeconds(now) + MAX_LOGOUT_TOKEN_AGE_SECONDS
  await ctx.db.transaction(async (tx) => {
    const use = { kind: 'logout token' as const, owner: row.id, jti, untilSeconds }
    if (!(await recordFirstUse(tx, use)))
      throw new InvalidInput([{ field: 'logout_token', description: 'was used before' }])
    for (const userId of await selectProviderSessionUsers(tx, key)) await lockUserRow(tx, userId)
    const ended = await revokeSessions(tx, ctx, { kind: 'provider sessions', ...key }, 'logout', now)
    await clearIdTokens(tx, { sessionId: { in: ended.map(({ id }) => id) } })
  })
}
