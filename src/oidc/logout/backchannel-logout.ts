import { randomUUID } from 'node:crypto'
import { FetchFault, guardedFetch } from '../../fetcher.ts'
import { log } from '../../log.ts'
import { epochSeconds } from '../../time.ts'
import { issuerOf, signJwt } from '../keys/keys.ts'
import type { LogoutDelivery } from './logout-deliveries.sql.ts'

/** A token is made anew for each attempt, so that it may be as short-lived as the recommendation (section 4). */
const LIFETIME_SECONDS = 120
const BACKCHANNEL_LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'

/**
 * Issues a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.4): signed as the client's ID tokens are, and
 * by its `typ` nothing else than that.
 */
export function issueLogoutToken({
  tenantId,
  userId,
  clientId,
  sessionId,
  alg,
}: Omit<LogoutDelivery, 'url'>): Promise<string> {
  const issuedAt = epochSeconds(new Date())
  const claims = {
    iss: issuerOf(tenantId),
    sub: userId,
    aud: clientId,
    iat: issuedAt,
    exp: issuedAt + LIFETIME_SECONDS,
    jti: randomUUID(),
    events: { [BACKCHANNEL_LOGOUT_EVENT]: {} },
    sid: sessionId,
  }
  return signJwt(tenantId, 'logout+jwt', claims, alg ?? undefined)
}

/** What came of an attempt: the status that the client answered, or why it answered none. */
export type LogoutAnswer = { status: number | null; fault: FetchFault['kind'] | 'internal' | null }

/** Whether the client was told (section 2.8; frameworks make a 204 of an empty 200). */
export const wasAccepted = ({ status }: LogoutAnswer): boolean =>
  status !== null && status >= 200 && status < 300

/**
 * Sends a logout token to the client's backchannelLogoutUrl (section 2.5): within ten seconds, to a public address, and
 * wherever that redirects to, no further. Never throws.
 */
export async function sendLogoutToken(
  delivery: LogoutDelivery & { url: string },
  signal: AbortSignal,
): Promise<LogoutAnswer> {
  try {
    const { status } = await guardedFetch(delivery.url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: await issueLogoutToken(delivery) }).toString(),
      readBody: false,
      signal,
    })
    return { status, fault: null }
  } catch (error) {
    if (error instanceof FetchFault) return { status: null, fault: error.kind }
    log.error({ err: error, clientId: delivery.clientId }, 'a logout token could not be sent')
    return { status: null, fault: 'internal' }
  }
}
