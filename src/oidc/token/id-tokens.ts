import { decodeJwt, decodeProtectedHeader, errors } from 'jose'
import { OAuthError, type Why } from '../../errors.ts'
import { DEFAULT_SIGNING_ALGORITHM, type SigningAlgorithm } from '../../signing-algorithms.ts'
import { epochSeconds } from '../../time.ts'
import { ACR_OTP } from '../authorize/acr.ts'
import { textOf } from '../client-auth/member-text.ts'
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
  signingAlg: SigningAlgorithm | null
}

/**
 * Issues an ID token (OIDC Core, sections 2 and 3.1.3.6). It says who signed in, when and how; what the scopes cover
 * comes from userinfo, since there is always an access token (section 5.4), unless claims ask for it here (section 5.5).
 */
export function issueIdToken(tenant: string, request: IdTokenRequest): Promise<string> {
  const issuedAt = epochSeconds(new Date())
  const alg = request.signingAlg ?? DEFAULT_SIGNING_ALGORITHM
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

const badHint = (why: Why): OAuthError =>
  new OAuthError('invalid_request', 'The id_token_hint is not an ID token of this issuer.', { why })

/** What of a hint made jose refuse it. Nothing of it is proven: it says so of itself. */
function whyNotOurs(tenant: string, token: string, error: unknown): Why {
  let said: { kid?: unknown; typ?: unknown; iss?: unknown }
  try {
    said = { ...decodeProtectedHeader(token), iss: decodeJwt(token).iss }
  } catch {
    return { reason: 'it is no JWT, or was cut' }
  }
  const { iss, kid, typ } = said
  if (iss !== issuerOf(tenant))
    return { reason: 'it is of another issuer', given: textOf(iss), expected: issuerOf(tenant) }
  if (error instanceof errors.JWKSNoMatchingKey)
    return { reason: 'its key is none of this tenant, or no longer known', kid: textOf(kid) }
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return { reason: 'its signature is wrong: it was altered, or cut', kid: textOf(kid) }
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'typ')
    return { reason: NO_ID_TOKEN, typ: textOf(typ) }
  return { reason: error instanceof Error ? error.message : String(error) }
}
const NO_ID_TOKEN = 'it is a token of another kind than an ID token'

/**
 * Reads an id_token_hint. An expired one is as good (RP-Initiated Logout 1.0, section 2), for 90 days after its key was
 * published last. Throws OAuthError invalid_request for anything that we did not sign as an ID token of this tenant.
 */
export async function readIdTokenHint(tenant: string, token: string): Promise<IdTokenHint> {
  // At its epoch, no token has expired yet.
  const { sub, aud, sid, exp } = await verifyOldJwt(tenant, token, 'JWT', { currentDate: new Date(0) }).catch(
    (error: unknown) => {
      throw badHint(whyNotOurs(tenant, token, error))
    },
  )
  // Signed userinfo has no end (OIDC Core, section 5.3.2).
  if (typeof sub !== 'string' || typeof aud !== 'string' || exp === undefined)
    throw badHint({ reason: NO_ID_TOKEN })
  return { userId: sub, clientId: aud, sessionId: typeof sid === 'string' ? sid : null }
}
