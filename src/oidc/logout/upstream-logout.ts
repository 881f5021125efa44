import type { Ctx } from '../../context/context.ts'
import {
  equalsConstantTime,
  randomToken,
  seal,
  sha256Base64url,
  UnsealError,
  unseal,
} from '../../core/crypto.ts'
import { Unavailable } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { buildEndSessionUrl } from '../../idps/provider/provider-end-session.ts'
import { takeProviderSession } from '../../idps/provider/provider-sessions.sql.ts'
import { findProviderRow } from '../../idps/sign-in-providers.ts'

/** Where a logout goes on after the one at the provider. */
export type LogoutReturn = { clientId: string | null; returnTo: string | null }

/** How long the user may take at the provider. */
export const UPSTREAM_LOGOUT_SECONDS = 600

type ReturnState = LogoutReturn & { browser: string; until: number }
const toPurpose = (tenant: string, idpId: string): string => `logout-return:${tenant}:${idpId}`

/**
 * The logout at the provider that an ended session came from: its URL, and the cookie value that `state` is bound to.
 * Null if the provider is not to be asked, or does not respond: then the logout here is all.
 */
export async function beginUpstreamLogout(
  ctx: Ctx,
  idps: readonly { id: string; name: string; upstreamLogout: boolean }[],
  sessionId: string,
  target: LogoutReturn,
): Promise<{ url: string; browserToken: string; name: string } | null> {
  const { tenant } = ctx
  if (!idps.some(({ upstreamLogout }) => upstreamLogout)) return null
  const from = await takeProviderSession(ctx.db, sessionId)
  const row = from && (await findProviderRow(ctx.db, from.idpId))
  if (!from || !row?.upstreamLogout) return null
  const browserToken = randomToken()
  const until = Date.now() + UPSTREAM_LOGOUT_SECONDS * 1000
  const state: ReturnState = { ...target, browser: sha256Base64url(browserToken), until }
  try {
    const url = await buildEndSessionUrl(row, {
      idToken: from.idToken,
      state: seal(toPurpose(tenant, row.id), JSON.stringify(state)),
    })
    return url === null ? null : { url, browserToken, name: row.name }
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    log.warn({ requestId: ctx.requestId, tenant, idpId: row.id, err: error }, 'no logout at the provider')
    return null
  }
}

/** Opens the `state` of a user who comes back; null for another browser's, an old or a foreign one. */
export function openLogoutReturn(
  tenant: string,
  idpId: string,
  { state, browserToken }: { state: string; browserToken: string | null },
): LogoutReturn | null {
  if (browserToken === null) return null
  try {
    const opened = JSON.parse(unseal(toPurpose(tenant, idpId), state).toString()) as ReturnState
    const isOwn = equalsConstantTime(opened.browser, sha256Base64url(browserToken))
    return isOwn && opened.until > Date.now() ? opened : null
  } catch (error) {
    if (error instanceof UnsealError) return null
    throw error
  }
}
