import type { Ctx } from '../../context/context.ts'
import { randomToken, sha256 } from '../../core/crypto.ts'
import { buildCookie, buildSurplusCookies, nameCookie, readCookie } from '../../pages/cookies.ts'
import type { PendingRequest } from '../model/authorize-request.ts'
import { createInteraction, INTERACTION_LIFETIME_SECONDS, type ResumableSignIn } from './interactions.ts'

/** Each interaction has a cookie of its own, so that a proof in one tab leaves those of other tabs bound. */
export const nameInteractionCookie = (tenant: string, handle: string): string =>
  nameCookie('ix', tenant, sha256(handle).toString('hex').slice(0, 12))

/** The key that a browser presents for the interaction with a handle. */
export const readInteractionKey = (tenant: string, handle: string, cookies: string | null): string | null =>
  readCookie(cookies, nameInteractionCookie(tenant, handle))

/** The cookie that binds an interaction to this browser. */
export const buildInteractionCookie = (tenant: string, handle: string, key: string): string =>
  buildCookie(nameInteractionCookie(tenant, handle), key, INTERACTION_LIFETIME_SECONDS)

/**
 * Stores a request while the user of this browser signs in, with the handle of `signIn` if it has one. Returns its handle, the key that binds it, and the cookies
 * to set; those of the oldest interactions may end. Throws RateLimited when the network has stored too much.
 */
export async function openInteraction(
  ctx: Pick<Ctx, 'tenant' | 'ip' | 'db'>,
  request: PendingRequest,
  cookies: string | null,
  signIn?: ResumableSignIn,
): Promise<{ handle: string; key: string; cookies: string[] }> {
  const key = randomToken()
  const handle = await createInteraction(ctx, request, key, signIn)
  const set = buildInteractionCookie(ctx.tenant, handle, key)
  const kept = [nameInteractionCookie(ctx.tenant, handle)]
  return { handle, key, cookies: [set, ...buildSurplusCookies(cookies, 'ix', kept)] }
}
