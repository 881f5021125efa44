import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, errors, type JWK, jwtVerify } from 'jose'
import type { CachedClient } from '../../clients/client-cache.ts'
import { ASSERTION_ALGORITHMS } from '../../clients/client-keys.fields.ts'
import type { Why } from '../../errors.ts'
import { epochSeconds } from '../../time.ts'
import { issuerOf } from '../keys/keys.ts'
import { textOf } from './member-text.ts'
import { isFirstUse } from './used-proofs.ts'

/** What client_assertion_type must be (RFC 7523, section 2.2). */
export const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** An assertion is for one request: one that is good for longer is worth stealing, and its jti has to be kept as long. */
const MAX_LIFETIME_SECONDS = 3600
/** How far a client's clock may be from ours. */
const CLOCK_TOLERANCE_SECONDS = 30
/** Keys of a client sign other things too: what says that it is one of those is no assertion (RFC 8725, section 3.11). */
const TYPES = ['jwt', 'client-authentication+jwt']

type Claims = ReturnType<typeof decodeJwt>
type Keys = ReturnType<typeof createLocalJWKSet>

/** Whose assertion it says to be, unchecked; null when it cannot be read. */
export function clientAsserted(assertion: string): string | null {
  try {
    const { sub } = decodeJwt(assertion)
    return typeof sub === 'string' ? sub : null
  } catch {
    return null // no JWT
  }
}

const keySets = new WeakMap<object, Keys>()

/** EdDSA and Ed25519 are names of the same thing for the one curve that clients may have (RFC 9864). */
const withoutOlderName = (key: JWK): JWK => (key.crv === 'Ed25519' ? { ...key, alg: undefined } : key)

function keysOf(jwks: object): Keys {
  let keys = keySets.get(jwks)
  if (!keys) {
    keys = createLocalJWKSet({ keys: (jwks as { keys: JWK[] }).keys.map(withoutOlderName) })
    keySets.set(jwks, keys)
  }
  return keys
}

/** Verifies by the key with the assertion's kid; without one, by whichever key of the client fits. */
async function verifyByAny(assertion: string, keys: Keys, options: object): Promise<void> {
  try {
    await jwtVerify(assertion, keys, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      const isOurs = await jwtVerify(assertion, key, options).then(
        () => true,
        (fault) => {
          // The key was the right one, and something else is wrong.
          if (fault instanceof errors.JWSSignatureVerificationFailed) return false
          throw fault
        },
      )
      if (isOurs) return
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

/** What a library's refusal comes to for those who look for the fault: which value, and which was wanted. */
function explain(
  error: unknown,
  header: { kid?: unknown; alg?: unknown },
  claims: Claims,
  nowSeconds: number,
): Why {
  const key = { kid: textOf(header.kid), alg: textOf(header.alg) }
  if (error instanceof errors.JOSEAlgNotAllowed)
    return { reason: 'the algorithm is not supported', ...key, expected: ASSERTION_ALGORITHMS.join(' ') }
  if (error instanceof errors.JWKSNoMatchingKey) return { reason: "none of the client's keys fits", ...key }
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return { reason: 'the signature is not by this key', ...key }
  if (error instanceof errors.JWTExpired)
    return { reason: 'it has expired', claim: 'exp', seconds_late: nowSeconds - (claims.exp ?? 0) }
  if (!(error instanceof errors.JOSEError)) throw error
  const claim = error instanceof errors.JWTClaimValidationFailed ? error.claim : null
  return { reason: error.message, ...(claim && { claim, given: textOf(claims[claim]) }) }
}

/** What is wrong with times and audience, beyond what signs of a good JWT are; null when nothing is. */
function claimsFault(claims: Claims, audiences: readonly string[], nowSeconds: number): Why | null {
  const { exp = 0, iat = 0, aud, jti } = claims
  if (exp > nowSeconds + MAX_LIFETIME_SECONDS + CLOCK_TOLERANCE_SECONDS)
    return {
      reason: 'it is good for too long',
      claim: 'exp',
      seconds: exp - nowSeconds,
      expected: MAX_LIFETIME_SECONDS,
    }
  if (iat > nowSeconds + CLOCK_TOLERANCE_SECONDS)
    return { reason: 'it was issued in the future', claim: 'iat', seconds_ahead: iat - nowSeconds }
  // One for others as well could be used here by any of them.
  if (![aud].flat().every((given) => audiences.includes(given as string)))
    return {
      reason: 'it is for somebody else',
      claim: 'aud',
      given: textOf(aud),
      expected: audiences.join(' '),
    }
  if (typeof jti !== 'string' || jti === '')
    return { reason: 'it has no jti', claim: 'jti', given: textOf(jti) }
  return null
}

/**
 * What is wrong with a client's assertion, or null, after which it is used up (RFC 7523, section 3; OIDC Core, section 9).
 * It is signed by a key of the client, issued by the client about itself, for this issuer, its token endpoint or the
 * endpoint called (`endpoint`) and for nobody else, expires within an hour, and was never seen before. One statement.
 */
export async function assertionFault(
  tenant: string,
  client: Pick<CachedClient, 'id' | 'jwks'>,
  assertion: string,
  endpoint: string,
  now = new Date(),
): Promise<Why | null> {
  if (!client.jwks) return { reason: 'the client has no keys (jwks)' }
  let header: ReturnType<typeof decodeProtectedHeader>
  let claims: Claims
  try {
    header = decodeProtectedHeader(assertion)
    claims = decodeJwt(assertion)
  } catch {
    return { reason: 'it is no JWT' }
  }
  if (header.typ !== undefined && !TYPES.includes(textOf(header.typ).toLowerCase()))
    return { reason: 'it is of another type', typ: textOf(header.typ) }
  try {
    await verifyByAny(assertion, keysOf(client.jwks as object), {
      algorithms: ASSERTION_ALGORITHMS,
      issuer: client.id,
      subject: client.id,
      requiredClaims: ['aud', 'exp', 'jti'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: now,
    })
  } catch (error) {
    return explain(error, header, claims, epochSeconds(now))
  }
  const issuer = issuerOf(tenant)
  const fault = claimsFault(
    claims,
    [...new Set([issuer, `${issuer}/oidc/token`, endpoint])],
    epochSeconds(now),
  )
  if (fault) return fault
  const { jti = '', exp = 0 } = claims
  const use = {
    kind: 'client assertion',
    owner: client.id,
    jti,
    untilSeconds: exp + CLOCK_TOLERANCE_SECONDS,
  } as const
  return (await isFirstUse(tenant, use))
    ? null
    : { reason: 'its jti was seen before', claim: 'jti', given: jti }
}
