import { randomUUID } from 'node:crypto'
import { issuerOf } from '../../core/issuer.ts'
import { log } from '../../core/log.ts'
import { FetchError, guardedFetch } from '../../core/network/fetcher.ts'
import { toEpochSeconds } from '../../core/time.ts'
import { signJwt } from '../../keys/keys.ts'
import type { LogoutDelivery } from './logout-deliveries.sql.ts'

/**
 * Each attempt issues a new token, so the recommended two minutes suffice (Back-Channel Logout 1.0, section
 * 2.4).
 */
const LOGOUT_TOKEN_LIFETIME_SECONDS = 120
const BACKCHANNEL_LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'

/**
 * Issues a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.4), signed with the algorithm of
 * the client's ID tokens; `typ` distinguishes it from other JWTs.
 */
export function issueLogoutToken({
  tenantId,
  userId,
  recipientId,
  sessionId,
  alg,
}: Omit<LogoutDelivery, 'url'>): Promise<string> {
  const issuedAt = toEpochSeconds(new Date())
  const claims = {
    iss: issuerOf(tenantId),
    sub: userId,
    aud: recipientId,
    iat: issuedAt,
    exp: issuedAt + LOGOUT_TOKEN_LIFETIME_SECONDS,
    jti: randomUUID(),
    events: { [BACKCHANNEL_LOGOUT_EVENT]: {} },
    sid: sessionId,
  }
  return signJwt(tenantId, 'logout+jwt', claims, alg ?? undefined)
}

/**
 * The result of an attempt: the HTTP status of the client's response, or the kind of failure without one.
 * Recorded in the event log under these names.
 */
export type LogoutAnswer = { status: number | null; fault: FetchError['kind'] | 'internal' | null }

/**
 * Whether the client accepted the token (section 2.8). Any 2xx counts: frameworks turn an empty 200 into a
 * 204.
 */
export const isAccepted = ({ status }: LogoutAnswer): boolean =>
  status !== null && status >= 200 && status < 300

/**
 * Sends a logout token to the client's backchannelLogoutUrl (section 2.5), within ten seconds, to public
 * addresses only, without following redirects. Never throws.
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
    if (error instanceof FetchError) return { status: null, fault: error.kind }
    log.error({ err: error, clientId: delivery.recipientId }, 'cannot send a logout token')
    return { status: null, fault: 'internal' }
  }
}
