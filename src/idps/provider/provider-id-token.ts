import { errors, type JWTVerifyOptions, type JWTVerifyResult, jwtVerify } from 'jose'
import type { Claims } from '../answers/claims.ts'
import { readJwtClaims } from '../answers/json.ts'
import { verifyWithKeySet } from '../answers/key-set.ts'
import type { Provider } from './provider.ts'
import { requireClientId } from './provider-client.ts'
import { rejectProof, toUnavailable } from './provider-errors.ts'
import { parsePublicKey } from './provider-keys.ts'
import { findEndpoint } from './provider-metadata.ts'
import { ID_TOKEN_ALGORITHMS, SECRET_ALGORITHM } from './provider-types.ts'

// openid-client verifies an ID token only as part of a response that it received itself, and compares it with
// one issuer. Here API callers present ID tokens, keys may be pinned, and one provider may have several
// issuers: jose verifies them.

const CLOCK_TOLERANCE_SECONDS = 30

/** The difference between now and a time of a token, in words. */
function describeTime(name: string, value: unknown): string {
  const seconds = Math.round(Date.now() / 1000 - Number(value))
  return `${name} is ${Math.abs(seconds)} s ${seconds < 0 ? 'ahead' : 'ago'} by the clock of this server`
}

/** Converts an error of jose, in words that quote nothing of the token. Other errors stay as they are. */
function toRejection(field: string, error: unknown): unknown {
  if (error instanceof errors.JWTExpired)
    return rejectProof(field, 'has expired', 'clock', describeTime('exp', error.payload.exp))
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason, payload } = error
    if (claim === 'aud')
      return rejectProof(field, 'was issued to another client', 'audience', 'aud is not the clientId')
    const description = `has a wrong or no claim ${claim}`
    return reason === 'missing'
      ? rejectProof(field, description, 'claim missing', claim)
      : rejectProof(field, description, 'clock', describeTime(claim, payload[claim]))
  }
  if (!(error instanceof errors.JOSEError)) return error
  const cause =
    error instanceof errors.JWKSNoMatchingKey
      ? 'key unknown'
      : error instanceof errors.JOSEAlgNotAllowed
        ? 'algorithm not accepted'
        : 'signature'
  return rejectProof(field, 'is not signed by the provider', cause, error.message)
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

/** As `verifySignature`; throws what jose throws too. */
async function verifyWithKeys(
  provider: Provider,
  token: string,
  field: string,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  const { idTokenSigningKey, idTokenSigningAlg, clientSecret } = provider.row
  const algorithms = idTokenSigningAlg ? [idTokenSigningAlg] : [...ID_TOKEN_ALGORITHMS]
  const rules = { ...options, algorithms, clockTolerance: CLOCK_TOLERANCE_SECONDS }
  if (idTokenSigningKey) {
    const pinned = parsePublicKey(idTokenSigningKey)
    if (!pinned) throw toUnavailable('keys unusable', 'idTokenSigningKey cannot be read')
    // jose throws a TypeError for a key of another type: allow only what this key verifies.
    const usable = algorithms.filter((alg) => pinned.algorithms.some((each) => each === alg))
    return jwtVerify(token, pinned.key, { ...rules, algorithms: usable })
  }
  if (idTokenSigningAlg === SECRET_ALGORITHM) {
    if (!clientSecret)
      throw rejectProof(
        field,
        `cannot be checked: ${SECRET_ALGORITHM} requires the clientSecret`,
        'fields missing',
        'clientSecret',
      )
    return jwtVerify(token, new TextEncoder().encode(clientSecret), rules)
  }
  const url = await findEndpoint(provider, 'jwksUri')
  if (!url)
    throw rejectProof(
      field,
      'cannot be checked: the provider has neither jwksUri nor idTokenSigningKey',
      'endpoint missing',
      'jwksUri',
    )
  return verifyWithKeySet(url, token, rules)
}

/**
 * Verifies the signature of a JWT with a key of the provider, and the claims that `options` name. Throws InvalidInput
 * about `field`, or Unavailable.
 */
export const verifySignature = (
  provider: Provider,
  token: string,
  field: string,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> =>
  verifyWithKeys(provider, token, field, options).catch((error) => {
    throw toRejection(field, error)
  })

/** Throws InvalidInput about `field` for a token of another issuer. */
function assertIssuer(provider: Provider, { iss, tid }: Claims, field: string): void {
  const issuer = typeof iss === 'string' ? iss : ''
  if (provider.isIssuer({ iss: issuer, tid })) return
  const isClose = provider.issuer && [`${issuer}/`, issuer.replace(/\/$/, '')].includes(provider.issuer)
  throw rejectProof(
    field,
    'was issued by another issuer',
    isClose ? 'issuer differs by a slash' : 'issuer of another provider',
    `iss is ${issuer}`,
  )
}

/**
 * Verifies a token that a provider signed: with one of its keys by an allowed algorithm, issued by it, to our
 * client, not expired. Returns the claims. Throws InvalidInput about `field`, or Unavailable when the keys
 * cannot be fetched.
 */
export async function verifySignedToken(
  provider: Provider,
  token: string,
  { field, requiredClaims, types, name }: SignedTokenRules,
): Promise<Claims> {
  // Without an issuer, keys that several issuers share would let one speak for another.
  if (provider.issuer === '')
    throw rejectProof(field, 'cannot be checked: the provider has no issuer', 'fields missing', 'issuer')
  const { protectedHeader } = await verifySignature(provider, token, field, {
    audience: requireClientId(provider),
    requiredClaims: ['iss', 'iat', 'exp', ...requiredClaims],
  })
  // An access token of the same issuer for this client does not say who signed in.
  const typ = protectedHeader.typ || 'JWT'
  if (!types.includes(typ.toUpperCase()))
    throw rejectProof(field, `is not ${name}`, 'type of token', `typ is ${typ}`)
  const claims = readJwtClaims(token)
  assertIssuer(provider, claims, field)
  if (Array.isArray(claims.aud) && claims.aud.length > 1 && claims.azp !== provider.row.clientId)
    throw rejectProof(field, 'was issued to another client', 'audience', 'azp is not the clientId')
  return claims
}

/**
 * Verifies an ID token (OIDC Core, section 3.1.3.7), as `verifySignedToken` does. The nonce is not compared:
 * the relying party that began the sign-in has compared it.
 */
export const verifyIdToken = (provider: Provider, token: string, field: string): Promise<Claims> =>
  verifySignedToken(provider, token, { field, requiredClaims: ['sub'], types: ['JWT'], name: 'an ID token' })
