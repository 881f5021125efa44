import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWK,
  type JWTVerifyOptions,
} from 'jose'
import type { CachedClient } from '../../access/client-cache.ts'
import { recordFirstUse } from '../../access/dpop/used-proofs.sql.ts'
import type { Ctx } from '../../context/context.ts'
import { requireStorage } from '../../coordination/storage-budgets.ts'
import { issuerOf } from '../../core/issuer.ts'
import type { Diagnostics } from '../../core/oauth-error.ts'
import { toEpochSeconds } from '../../core/time.ts'
import { listClientAlgorithms } from '../../keys/public-keys.ts'
import { verifyWithKeys } from '../../keys/remote-key-sets.ts'
import { toLogText } from '../../keys/token-claims.ts'
import { isUnreviewed } from '../model/unreviewed-clients.ts'
import { ClientKeysError, removeLegacyAlg, verifyWithRemoteKeys } from './client-key-sets.ts'

/** The only supported client_assertion_type (RFC 7523, section 2.2). */
export const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** An assertion serves one request; a longer lifetime makes it worth stealing and its jti costly to store. */
const MAX_LIFETIME_SECONDS = 3600
/** Tolerated difference between a client's clock and this server's. */
const CLOCK_TOLERANCE_SECONDS = 30
/**
 * The accepted values of `typ`. Clients sign other JWTs with the same keys, which are not assertions (RFC
 * 8725, section 3.11).
 */
const ASSERTION_TYPES = ['jwt', 'client-authentication+jwt', 'oauth-client-auth+jwt']

type AssertionClaims = ReturnType<typeof decodeJwt>
type AssertionKeys = ReturnType<typeof createLocalJWKSet>

/** The client that an assertion claims to come from, not verified; null when it cannot be parsed. */
export function readAssertedClientId(assertion: string): string | null {
  try {
    const { sub } = decodeJwt(assertion)
    return typeof sub === 'string' ? sub : null
  } catch {
    return null // not a JWT
  }
}

const keySets = new WeakMap<object, AssertionKeys>()

function getKeySet(jwks: object): AssertionKeys {
  let keys = keySets.get(jwks)
  if (!keys) {
    keys = createLocalJWKSet({ keys: (jwks as { keys: JWK[] }).keys.map(removeLegacyAlg) })
    keySets.set(jwks, keys)
  }
  return keys
}

/** Diagnostics of an error of jose: the rejected value and the expected one. Rethrows any other error. */
function diagnoseVerification(
  error: unknown,
  header: { kid?: unknown; alg?: unknown },
  claims: AssertionClaims,
  algorithms: readonly string[],
  nowSeconds: number,
): Diagnostics {
  const key = { kid: toLogText(header.kid), alg: toLogText(header.alg) }
  if (error instanceof errors.JOSEAlgNotAllowed)
    return { reason: 'the algorithm is not supported', ...key, expected: algorithms.join(' ') }
  if (error instanceof errors.JWKSNoMatchingKey) return { reason: 'no key of the client matches', ...key }
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return { reason: 'the signature does not verify with this key', ...key }
  if (error instanceof errors.JWTExpired)
    return { reason: 'it has expired', claim: 'exp', seconds_late: nowSeconds - (claims.exp ?? 0) }
  if (!(error instanceof errors.JOSEError)) throw error
  const claim = error instanceof errors.JWTClaimValidationFailed ? error.claim : null
  return { reason: error.message, ...(claim && { claim, given: toLogText(claims[claim]) }) }
}

/** The values of `aud` that name this server for a client; the only one is a string then. */
type ExpectedAudience = { audiences: readonly string[]; isString: boolean }

const selectAudience = (
  client: Pick<CachedClient, 'requireIssuerAudience'>,
  issuer: string,
  endpoint: string,
): ExpectedAudience =>
  client.requireIssuerAudience
    ? { audiences: [issuer], isString: true }
    : { audiences: [...new Set([issuer, `${issuer}/oidc/token`, endpoint])], isString: false }

/** Checks the claims beyond what jose checks: lifetime, audience and jti. Null when they are valid. */
function findClaimsIssue(
  claims: AssertionClaims,
  { audiences, isString }: ExpectedAudience,
  nowSeconds: number,
): Diagnostics | null {
  const { exp = 0, iat = 0, aud, jti } = claims
  if (exp > nowSeconds + MAX_LIFETIME_SECONDS + CLOCK_TOLERANCE_SECONDS)
    return {
      reason: 'its lifetime is too long',
      claim: 'exp',
      seconds: exp - nowSeconds,
      expected: MAX_LIFETIME_SECONDS,
    }
  if (iat > nowSeconds + CLOCK_TOLERANCE_SECONDS)
    return { reason: 'it was issued in the future', claim: 'iat', seconds_ahead: iat - nowSeconds }
  if (isString && typeof aud !== 'string')
    return {
      reason: 'its audience is not a string',
      claim: 'aud',
      given: toLogText(aud),
      expected: audiences.join(' '),
    }
  // Any other recipient in the audience could present the assertion here.
  if (![aud].flat().every((given) => audiences.includes(given as string)))
    return {
      reason: 'its audience includes another recipient',
      claim: 'aud',
      given: toLogText(aud),
      expected: audiences.join(' '),
    }
  if (typeof jti !== 'string' || jti === '')
    return { reason: 'it has no jti', claim: 'jti', given: toLogText(jti) }
  return null
}

/** Used assertions are stored for as long as they are valid, DPoP proofs for two minutes: an assertion counts as several. */
const PROOF_SECONDS = 120
const PROOF_BYTES = 300

/** Counts an assertion of a client that a stranger registered. Throws RateLimited. */
async function requireAssertionStorage(
  caller: Pick<Ctx, 'tenant' | 'ip' | 'db'>,
  lifetimeSeconds: number,
): Promise<void> {
  const rows = Math.max(1, Math.ceil(lifetimeSeconds / PROOF_SECONDS))
  await requireStorage('usedProof', caller, { rows, bytes: rows * PROOF_BYTES })
}

/**
 * Validates a client assertion and records its use (RFC 7523, section 3; OIDC Core, section 9); null when it
 * is valid. It must be signed with a key of the client, issued by the client about itself, addressed only to
 * this issuer, its token endpoint or the called `endpoint`, expire within an hour, and have an unused jti. The settings of
 * a client may permit fewer algorithms, and demand the issuer as audience. One statement. Keys at `jwksUri` are fetched if
 * they are not cached. Throws RateLimited.
 */
export async function findAssertionIssue(
  caller: Pick<Ctx, 'tenant' | 'ip' | 'db'>,
  client: Pick<
    CachedClient,
    'id' | 'registeredBy' | 'jwks' | 'jwksUri' | 'requireIssuerAudience' | 'requireFapiAlgorithms'
  >,
  assertion: string,
  endpoint: string,
): Promise<Diagnostics | null> {
  const now = new Date()
  if (!client.jwks && !client.jwksUri) return { reason: 'the client has no keys (jwks or jwksUri)' }
  let header: ReturnType<typeof decodeProtectedHeader>
  let claims: AssertionClaims
  try {
    header = decodeProtectedHeader(assertion)
    claims = decodeJwt(assertion)
  } catch {
    return { reason: 'it is not a JWT' }
  }
  if (header.typ !== undefined && !ASSERTION_TYPES.includes(toLogText(header.typ).toLowerCase()))
    return { reason: 'its typ is not accepted', typ: toLogText(header.typ) }
  const algorithms = listClientAlgorithms(client)
  try {
    const rules: JWTVerifyOptions = {
      algorithms: [...algorithms] as JWTVerifyOptions['algorithms'],
      issuer: client.id,
      subject: client.id,
      requiredClaims: ['aud', 'exp', 'jti'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: now,
    }
    if (client.jwks) await verifyWithKeys(assertion, getKeySet(client.jwks as object), rules)
    else await verifyWithRemoteKeys(caller, client, client.jwksUri ?? '', assertion, rules)
  } catch (error) {
    if (error instanceof ClientKeysError)
      return { reason: `the keys of the client cannot be used: ${error.message}`, jwks_uri: client.jwksUri }
    return diagnoseVerification(error, header, claims, algorithms, toEpochSeconds(now))
  }
  const issue = findClaimsIssue(
    claims,
    selectAudience(client, issuerOf(caller.tenant), endpoint),
    toEpochSeconds(now),
  )
  if (issue) return issue
  const { jti = '', exp = 0 } = claims
  const firstUse = {
    kind: 'client assertion',
    owner: client.id,
    jti,
    untilSeconds: exp + CLOCK_TOLERANCE_SECONDS,
  } as const
  if (isUnreviewed(client)) await requireAssertionStorage(caller, exp - toEpochSeconds(now))
  return (await recordFirstUse(caller.db, firstUse))
    ? null
    : { reason: 'its jti was used before', claim: 'jti', given: jti }
}
