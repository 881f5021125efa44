import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTPayload,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose'
import { LRUCache } from 'lru-cache'
import type { Provider } from './provider.ts'
import { requireClientId } from './provider-client.ts'
import { fetchFromProvider, rejectProof, toUnavailable } from './provider-fetch.ts'
import { parsePublicKey } from './provider-keys.ts'
import { findEndpoint } from './provider-metadata.ts'
import { ID_TOKEN_ALGORITHMS } from './provider-types.ts'

// openid-client verifies an ID token only as part of a response that it received itself, and compares it with
// one issuer. Here API callers present ID tokens, keys may be pinned, and one provider may have several
// issuers: jose verifies them.

const CLOCK_TOLERANCE_SECONDS = 30

/**
 * The keys at a URL. jose keeps them for ten minutes, and fetches them for an unknown `kid` twice a minute at
 * most.
 */
const keySets = new LRUCache<string, ReturnType<typeof createRemoteJWKSet>>({
  max: 500,
  memoMethod: (url) => createRemoteJWKSet(new URL(url), { [customFetch]: fetchFromProvider }),
})

/** Codes of jose for keys that are not there or not a key set. The others are about the token. */
const KEY_ERRORS = [errors.JOSEError.code, errors.JWKSInvalid.code, errors.JWKSTimeout.code]

/** Converts an error of jose, in words that quote nothing of the token. Other errors stay as they are. */
function toRejection(field: string, error: unknown): unknown {
  if (!(error instanceof errors.JOSEError)) return error
  if (KEY_ERRORS.includes(error.code)) return toUnavailable('its keys are not a key set', error)
  if (error instanceof errors.JWTExpired) return rejectProof(field, 'has expired')
  if (!(error instanceof errors.JWTClaimValidationFailed))
    return rejectProof(field, 'is not signed by the provider')
  const isAudience = error.claim === 'aud'
  return rejectProof(
    field,
    isAudience ? 'was issued to another client' : `has a wrong or no claim ${error.claim}`,
  )
}

/** What differs between the tokens that a provider signs. */
type SignedTokenRules = {
  /** The field that errors name. */
  field: string
  /** Besides `iss`, `aud`, `iat` and `exp`. */
  requiredClaims: readonly string[]
  /** The accepted values of the header `typ`, in upper case. */
  types: readonly string[]
  /** The token, as errors call it. */
  name: string
}

/**
 * Verifies signature, audience and times. Throws what jose throws, InvalidInput about `field`, or
 * Unavailable.
 */
async function verifySignature(
  provider: Provider,
  token: string,
  { field, requiredClaims }: SignedTokenRules,
): Promise<JWTVerifyResult> {
  const { idTokenSigningKey, idTokenSigningAlg } = provider.row
  const algorithms = idTokenSigningAlg ? [idTokenSigningAlg] : [...ID_TOKEN_ALGORITHMS]
  const options = {
    audience: requireClientId(provider),
    requiredClaims: ['iss', 'iat', 'exp', ...requiredClaims],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
  }
  if (idTokenSigningKey) {
    const pinned = parsePublicKey(idTokenSigningKey)
    if (!pinned) throw toUnavailable('the pinned key cannot be read')
    // jose throws a TypeError for a key of another type: allow only what this key verifies.
    const usable = algorithms.filter((alg) => pinned.algorithms.some((each) => each === alg))
    return jwtVerify(token, pinned.key, { ...options, algorithms: usable })
  }
  const url = await findEndpoint(provider, 'jwksUri')
  if (!url)
    throw rejectProof(field, 'cannot be checked: the provider has neither jwksUri nor idTokenSigningKey')
  return jwtVerify(token, keySets.memo(url), { ...options, algorithms })
}

/**
 * Verifies a token that a provider signed: with one of its keys by an allowed algorithm, issued by it, to our
 * client, not expired. Returns the claims. Throws InvalidInput about `field`, or Unavailable when the keys
 * cannot be fetched.
 */
export async function verifySignedToken(
  provider: Provider,
  token: string,
  rules: SignedTokenRules,
): Promise<JWTPayload> {
  const { field } = rules
  // Without an issuer, keys that several issuers share would let one speak for another.
  if (provider.issuer === '') throw rejectProof(field, 'cannot be checked: the provider has no issuer')
  const { payload: claims, protectedHeader } = await verifySignature(provider, token, rules).catch(
    (error) => {
      throw toRejection(field, error)
    },
  )
  // An access token of the same issuer for this client does not say who signed in.
  const typ = protectedHeader.typ || 'JWT'
  if (!rules.types.includes(typ.toUpperCase())) throw rejectProof(field, `is not ${rules.name}`)
  if (!provider.isIssuer(claims)) throw rejectProof(field, 'was issued by another issuer')
  if (Array.isArray(claims.aud) && claims.aud.length > 1 && claims.azp !== provider.row.clientId)
    throw rejectProof(field, 'was issued to another client')
  return claims
}

/**
 * Verifies an ID token (OIDC Core, section 3.1.3.7), as `verifySignedToken` does. The nonce is not compared:
 * the relying party that began the sign-in has compared it.
 */
export const verifyIdToken = (provider: Provider, token: string, field: string): Promise<JWTPayload> =>
  verifySignedToken(provider, token, { field, requiredClaims: ['sub'], types: ['JWT'], name: 'an ID token' })
