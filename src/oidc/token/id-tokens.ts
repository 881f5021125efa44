import { DEFAULT_SIGNING_ALGORITHM, type SigningAlgorithm } from '../../signing-algorithms.ts'
import { epochSeconds } from '../../time.ts'
import { ACR_OTP } from '../authorize/acr.ts'
import { halfHash } from '../keys/key-algorithms.ts'
import { issuerOf, signJwt, verifyOldJwt } from '../keys/keys.ts'

export type IdTokenRequest = {
  userId: string
  clientId: string
  sessionId: string | null
  nonce: string | null
  authenticatedAt: Date
  amr: string[]
  /** Claims about the person that were asked for in the ID token. */
  claims: Record<string, unknown>
  accessToken: string
  lifetimeSeconds: number
  /** What the client asked for; null is ours to choose. */
  signingAlg: string | null
}

/**
 * Issues an ID token (OIDC Core, sections 2 and 3.1.3.6). It says who signed in, when and how; what the scopes cover
 * comes from userinfo, since there is always an access token (section 5.4), unless claims ask for it here (section 5.5).
 */
export function issueIdToken(tenant: string, request: IdTokenRequest): Promise<string> {
  const issuedAt = epochSeconds(new Date())
  const alg = (request.signingAlg as SigningAlgorithm | null) ?? DEFAULT_SIGNING_ALGORITHM
  const claims = {
    ...request.claims,
    iss: issuerOf(tenant),
    sub: request.userId,
    aud: request.clientId,
    iat: issuedAt,
    exp: issuedAt + request.lifetimeSeconds,
    auth_time: epochSeconds(request.authenticatedAt),
    at_hash: halfHash(alg, request.accessToken),
    acr: ACR_OTP,
    ...(request.amr.length > 0 && { amr: request.amr }),
    ...(request.nonce !== null && { nonce: request.nonce }),
    ...(request.sessionId !== null && { sid: request.sessionId }),
  }
  return signJwt(tenant, 'JWT', claims, alg)
}

/** What an id_token_hint proves: an ID token of ours, for whom, of which client and of which session. */
export type IdTokenHint = { userId: string; clientId: string; sessionId: string | null }

/**
 * Reads an id_token_hint. An expired one is as good (RP-Initiated Logout 1.0, section 2), for 90 days after its key was
 * published last; null for anything that we did not sign as an ID token of this tenant.
 */
export async function readIdTokenHint(tenant: string, token: string | null): Promise<IdTokenHint | null> {
  if (token === null) return null
  try {
    // At its epoch, no token has expired yet.
    const { sub, aud, sid, exp } = await verifyOldJwt(tenant, token, 'JWT', { currentDate: new Date(0) })
    // Signed userinfo has no end (OIDC Core, section 5.3.2).
    if (typeof sub !== 'string' || typeof aud !== 'string' || exp === undefined) return null
    return { userId: sub, clientId: aud, sessionId: typeof sid === 'string' ? sid : null }
  } catch {
    return null // forged, of another tenant, or no JWT at all: the caller goes on without the hint
  }
}
