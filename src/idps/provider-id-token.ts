import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTPayload,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose'
import { LRUCache } from 'lru-cache'
import { askProvider, clientIdOf, type Provider, providerFault, refusedProof } from './provider.ts'
import { publicKeyOf } from './provider-keys.ts'
import { ID_TOKEN_ALGORITHMS } from './provider-types.ts'

/** Clocks differ; more than this would be a wrong one. */
const CLOCK_TOLERANCE_SECONDS = 30

type KeySet = ReturnType<typeof createRemoteJWKSet>
const keySets = new LRUCache<string, KeySet>({ max: 500 })

/** The keys at a URL, fetched through the guard, kept for ten minutes, and again for an unknown `kid` (twice a minute at most). */
function keySetAt(url: string): KeySet {
  let keys = keySets.get(url)
  if (!keys) {
    keys = createRemoteJWKSet(new URL(url), {
      [customFetch]: (at, { headers, signal }) => askProvider(at, { headers, signal }),
    })
    keySets.set(url, keys)
  }
  return keys
}

/** What jose says of the token itself. Anything else is about the keys that could not be had. */
const ABOUT_TOKEN = [
  errors.JWTClaimValidationFailed,
  errors.JWTExpired,
  errors.JWTInvalid,
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
]

/** Why jose refuses the token, in words that quote nothing of it. */
function describe(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'has expired'
  if (error instanceof errors.JWTClaimValidationFailed)
    return error.claim === 'aud' ? 'was issued to another client' : `has a wrong or no claim ${error.claim}`
  return 'is not signed by the provider'
}

/** Checks signature, audience and times. Throws what jose throws, or Unavailable; null where there is no key to check with. */
async function verifySignature(provider: Provider, token: string): Promise<JWTVerifyResult | null> {
  const { idTokenSigningKey, idTokenSigningAlg } = provider.row
  const algorithms = idTokenSigningAlg ? [idTokenSigningAlg] : [...ID_TOKEN_ALGORITHMS]
  const options = {
    audience: clientIdOf(provider),
    requiredClaims: ['iss', 'sub', 'iat', 'exp'],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
  }
  if (idTokenSigningKey) {
    const pinned = publicKeyOf(idTokenSigningKey)
    if (!pinned) throw providerFault('the pinned key cannot be read')
    // jose takes a key of another type for a fault of ours: allow what this key verifies only.
    const usable = algorithms.filter((alg) => pinned.algorithms.some((each) => each === alg))
    return jwtVerify(token, pinned.key, { ...options, algorithms: usable })
  }
  const url = await provider.endpoint('jwksUri')
  return url ? jwtVerify(token, keySetAt(url), { ...options, algorithms }) : null
}

/**
 * Checks an ID token (OIDC Core, section 3.1.3.7): signed with a key of the provider's, by an allowed algorithm, issued by
 * it, to our client, not expired. A nonce is not looked at: whoever began the sign-in has compared it. Answers its claims.
 * Throws InvalidInput about `field`, or Unavailable when the keys cannot be had.
 */
export async function verifyIdToken(provider: Provider, token: string, field: string): Promise<JWTPayload> {
  const refused = (why: string) => refusedProof(field, why)
  // Without an issuer, keys that several issuers share would let one speak for another.
  if (provider.issuer === '') throw refused('cannot be checked: the provider has no issuer')
  let verified: JWTVerifyResult | null
  try {
    verified = await verifySignature(provider, token)
  } catch (error) {
    if (ABOUT_TOKEN.some((known) => error instanceof known)) throw refused(describe(error))
    if (error instanceof errors.JOSEError) throw providerFault('its keys are no key set', error)
    throw error
  }
  if (!verified) throw refused('cannot be checked: the provider has neither jwksUri nor idTokenSigningKey')
  const { payload: claims, protectedHeader: header } = verified
  // An access token of the same issuer for this client is no statement of who signed in.
  if (header.typ && header.typ.toUpperCase() !== 'JWT') throw refused('is no ID token')
  if (!provider.isIssuer(claims)) throw refused('was issued by somebody else')
  if (Array.isArray(claims.aud) && claims.aud.length > 1 && claims.azp !== provider.row.clientId)
    throw refused('was issued to another client')
  return claims
}
