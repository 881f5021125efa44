import { decodeJwt, decodeProtectedHeader, errors } from 'jose'
import { errorMessage } from '../../core/error-message.ts'
import { issuerOf } from '../../core/issuer.ts'
import { type Diagnostics, OAuthError } from '../../core/oauth-error.ts'
import { toEpochSeconds } from '../../core/time.ts'
import { throwTransient } from '../../core/transient-errors.ts'
import { computeHalfHash } from '../../keys/key-algorithms.ts'
import { signJwt, verifyRetiredJwt } from '../../keys/keys.ts'
import { DEFAULT_SIGNING_ALGORITHM, type SigningAlgorithm } from '../../keys/signing-algorithms.ts'
import { toLogText } from '../../keys/token-claims.ts'

export type IdTokenRequest = {
  userId: string
  clientId: string
  sessionId: string | null
  nonce: string | null
  authenticatedAt: Date
  acr: string
  amr: readonly string[]
  /** Claims about the user. */
  claims: Record<string, unknown>
  /** The access token that comes with it; null for a preview. */
  accessToken: string | null
  lifetimeSeconds: number
  /** The algorithm that the client registered; null for the default. */
  signingAlg: SigningAlgorithm | null
}

/**
 * The payload of an ID token (OIDC Core, sections 2 and 3.1.3.6) about the authentication, with the claims of the request.
 */
export function buildIdTokenPayload(
  tenant: string,
  { accessToken, ...request }: IdTokenRequest,
): Record<string, unknown> {
  const issuedAt = toEpochSeconds(new Date())
  return {
    ...request.claims,
    iss: issuerOf(tenant),
    sub: request.userId,
    aud: request.clientId,
    iat: issuedAt,
    exp: issuedAt + request.lifetimeSeconds,
    auth_time: toEpochSeconds(request.authenticatedAt),
    ...(accessToken !== null && { at_hash: computeHalfHash(selectAlgorithm(request), accessToken) }),
    acr: request.acr,
    ...(request.amr.length > 0 && { amr: request.amr }),
    ...(request.nonce !== null && { nonce: request.nonce }),
    ...(request.sessionId !== null && { sid: request.sessionId }),
  }
}

const selectAlgorithm = ({ signingAlg }: Pick<IdTokenRequest, 'signingAlg'>): SigningAlgorithm =>
  signingAlg ?? DEFAULT_SIGNING_ALGORITHM

/** Issues an ID token. */
export const issueIdToken = (tenant: string, request: IdTokenRequest): Promise<string> =>
  signJwt(tenant, 'JWT', buildIdTokenPayload(tenant, request), selectAlgorithm(request))

/** The contents of a valid id_token_hint: user, client and session of the ID token. */
export type IdTokenHint = { userId: string; clientId: string; sessionId: string | null }

const createInvalidHintError = (diagnostics: Diagnostics): OAuthError =>
  new OAuthError('invalid_request', 'The id_token_hint is not an ID token of this issuer.', {
    diagnostics,
  })

/** Explains why jose rejected a hint, by its unverified contents. */
function diagnoseForeignToken(tenant: string, token: string, error: unknown): Diagnostics {
  let unverified: { kid?: unknown; typ?: unknown; iss?: unknown }
  try {
    unverified = { ...decodeProtectedHeader(token), iss: decodeJwt(token).iss }
  } catch {
    return { reason: 'it is not a JWT, or is truncated' }
  }
  const { iss, kid, typ } = unverified
  if (iss !== issuerOf(tenant))
    return { reason: 'it was issued by another issuer', given: toLogText(iss), expected: issuerOf(tenant) }
  if (error instanceof errors.JWKSNoMatchingKey)
    return { reason: 'its key is not, or no longer, a key of this tenant', kid: toLogText(kid) }
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return { reason: 'its signature is invalid: it was altered or truncated', kid: toLogText(kid) }
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'typ')
    return { reason: NOT_AN_ID_TOKEN, typ: toLogText(typ) }
  return { reason: errorMessage(error) }
}

const NOT_AN_ID_TOKEN = 'it is not an ID token'

/**
 * Verifies an id_token_hint. It may have expired (RP-Initiated Logout 1.0, section 2); its key is accepted
 * for 90 days after it was last published. Throws OAuthError invalid_request for anything but an ID token of
 * this tenant.
 */
export async function verifyIdTokenHint(tenant: string, token: string): Promise<IdTokenHint> {
  // No token has expired at the epoch.
  const { sub, aud, sid, exp } = await verifyRetiredJwt(tenant, token, 'JWT', {
    currentDate: new Date(0),
  }).catch((error: unknown) => {
    throwTransient(error)
    throw createInvalidHintError(diagnoseForeignToken(tenant, token, error))
  })
  // Signed userinfo has the same typ, but no exp (OIDC Core, section 5.3.2).
  if (typeof sub !== 'string' || typeof aud !== 'string' || exp === undefined)
    throw createInvalidHintError({ reason: NOT_AN_ID_TOKEN })
  return { userId: sub, clientId: aud, sessionId: typeof sid === 'string' ? sid : null }
}
