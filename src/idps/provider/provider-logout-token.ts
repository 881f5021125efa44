import * as z from 'zod'
import { isJsonObject } from '../../core/json/json-object.ts'
import type { IdentityProvider } from '../../generated/prisma/client.ts'
import { requireProvider } from '../external-identity.ts'
import { withinSignInDeadline } from './provider-deadline.ts'
import { rejectProof } from './provider-errors.ts'
import { verifySignedToken } from './provider-id-token.ts'

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const FIELD = 'logout_token'
/** An older token is rejected, so that its `jti` is stored for as long only. */
export const MAX_LOGOUT_TOKEN_AGE_SECONDS = 600
const CLOCK_TOLERANCE_SECONDS = 30

const text = z.string().min(1).max(255)
const LogoutClaims = z.object({ jti: text, sid: text.nullish(), sub: text.nullish() })

/** The sessions at a provider that a logout token ends: that of `sid`, or all of the subject. */
export type ProviderLogout = {
  issuer: string
  /** Null with `sid` alone. */
  subject: string | null
  sid: string | null
  jti: string
}

/**
 * Verifies a logout token of a provider (OpenID Connect Back-Channel Logout 1.0, section 2.6), except that
 * `jti` was not used before. Throws InvalidInput about `logout_token`, and Unavailable when the keys cannot be
 * fetched within 3 s.
 */
export async function verifyLogoutToken(
  row: IdentityProvider,
  token: string,
  now = new Date(),
): Promise<ProviderLogout> {
  const provider = requireProvider(row)
  const claims = await withinSignInDeadline(() =>
    verifySignedToken(provider, token, {
      field: FIELD,
      requiredClaims: ['jti', 'events'],
      types: ['JWT', 'LOGOUT+JWT'],
      name: 'a logout token',
    }),
  )
  const isLogout = isJsonObject(claims.events) && isJsonObject(claims.events[LOGOUT_EVENT])
  // An ID token must not end sessions: it reaches browsers and clients.
  if (!isLogout || claims.nonce !== undefined)
    throw rejectProof(FIELD, 'is not a logout token', 'type of token')
  const age = now.getTime() / 1000 - Number(claims.iat)
  if (age > MAX_LOGOUT_TOKEN_AGE_SECONDS + CLOCK_TOLERANCE_SECONDS)
    throw rejectProof(FIELD, 'is too old', 'clock')
  if (age < -CLOCK_TOLERANCE_SECONDS) throw rejectProof(FIELD, 'was issued in the future', 'clock')
  const { data } = LogoutClaims.safeParse(claims)
  if (!data || (!data.sid && !data.sub))
    throw rejectProof(FIELD, 'has no valid sid, sub or jti', 'claim missing')
  return {
    issuer: provider.issuer ?? String(claims.iss),
    subject: data.sub ?? null,
    sid: data.sid ?? null,
    jti: data.jti,
  }
}
