import type { Ctx } from '../../context/context.ts'
import { unseal } from '../../core/crypto.ts'
import { createEvent } from '../../events/create-event.ts'
import { recordEvents } from '../../events/log.ts'
import { assertLinkIds } from '../idp-users.ts'
import { toTokenPurpose } from './kept-tokens.ts'
import { loadFreshTokens } from './token-refresh.ts'

/** The tokens that a provider issued for a user. The refresh token stays here: used elsewhere too, it would be lost. */
export type IdpUserTokens = {
  userId: string
  idpId: string
  accessToken: string
  scopes: string[]
  /** Null where the provider does not say. */
  expiresAt: Date | null
}

/**
 * Returns the kept access token of a user at a provider, refreshed there if it has expired, and records who read it.
 * Throws NotFound without a link or tokens, Conflict when the token has expired and cannot be refreshed, and Unavailable
 * when the provider does not respond. See docs/decisions/0083.
 */
export async function getIdpUserTokens(ctx: Ctx, userId: string, idpId: string): Promise<IdpUserTokens> {
  assertLinkIds(userId, idpId)
  const { linkId, accessToken, scopes, expiresAt } = await loadFreshTokens(ctx, { userId, idpId })
  await recordEvents(ctx.db, ctx, [createEvent('idpuser.tokens_read', { userId, linkId, idpId })])
  const opened = unseal(toTokenPurpose(ctx.tenant, linkId, 'accessToken'), accessToken).toString()
  return { userId, idpId, accessToken: opened, scopes, expiresAt }
}
