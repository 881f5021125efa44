import { type Ctx, scopesOfRoles } from '../ctx.ts'
import { sql } from '../db.ts'
import { NotFound, SignInTooOld } from '../errors.ts'
import { requireNoEscalation, requireOwnAccount } from '../scopes.ts'
import { selectOwnAccess } from './own-access.sql.ts'

/** Whoever changes how an account is got into must have signed in this lately: a token alone may have been stolen. */
export const RECENT_SIGN_IN_SECONDS = 15 * 60
/** What descriptions say of operations that demand it. */
export const RECENT_SIGN_IN = `Takes a sign-in of the last ${RECENT_SIGN_IN_SECONDS / 60} minutes: else FORBIDDEN, with maxAgeSeconds in its extensions.`

/**
 * Whose account the caller may change the ways into: their own, in a session whose sign-in is recent (security 33); a
 * renewed token does not help, a new sign-in does. Of people with a role it also takes a token with all scopes of it, as
 * for anybody else who would get at them so: an application that may not administer must not come by an administrator's
 * account. One statement. Throws as requireOwnAccount does, and SignInTooOld.
 */
export async function requireOwnAccess(
  ctx: Ctx,
  now = new Date(),
): Promise<{ userId: string; sessionId: string }> {
  const { userId, sessionId } = requireOwnAccount(ctx)
  const since = new Date(now.getTime() - RECENT_SIGN_IN_SECONDS * 1000)
  const access = await selectOwnAccess(sql, ctx.tenant, { userId, sessionId }, { since, now })
  if (!access) throw new NotFound('user')
  requireNoEscalation(ctx, scopesOfRoles(access.roles))
  if (sessionId === null || !access.isRecent) throw new SignInTooOld(RECENT_SIGN_IN_SECONDS)
  return { userId, sessionId }
}
