import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, errors, type JWK, jwtVerify } from 'jose'
import { sha256Base64url } from '../../core/crypto.ts'
import { type Diagnostics, OAuthError } from '../../core/oauth-error.ts'
import { toEpochSeconds } from '../../core/time.ts'
import { Handle } from '../../database/handle.ts'
import { ASSERTION_ALGORITHMS, listClientAlgorithms, PRIVATE_JWK_MEMBERS } from '../../keys/public-keys.ts'
import { toLogText } from '../../keys/token-claims.ts'
import { createNonce, getNonceStatus } from './dpop-nonces.ts'
import { recordFirstUse } from './used-proofs.sql.ts'

/**
 * An error as the token endpoint sends it; resources send it in a challenge. The description names the invalid part, since the
 * caller created the proof; the expected values are diagnostics.
 */
const createInvalidProofError = (description: string, diagnostics: Diagnostics): OAuthError =>
  new OAuthError('invalid_dpop_proof', description, { diagnostics })

const createNotJwtError = (): OAuthError =>
  createInvalidProofError('The DPoP header is not a JWT.', { reason: 'the DPoP header is not a JWT' })

const createKeyError = (diagnostics: Diagnostics): OAuthError =>
  createInvalidProofError('The key of the DPoP proof is missing or not acceptable.', diagnostics)

const createClaimError = (claim: string, diagnostics: Diagnostics): OAuthError =>
  createInvalidProofError(`The claim ${claim} of the DPoP proof is missing or does not match the request.`, {
    ...diagnostics,
    claim,
  })

const createNonceRequiredError = (reason: string): OAuthError =>
  new OAuthError(
    'use_dpop_nonce',
    'The DPoP proof must have the nonce of the DPoP-Nonce header of this response.',
    { diagnostics: { reason }, headers: { 'dpop-nonce': createNonce() } },
  )

/** Algorithms that proofs may be signed with: the same as for client assertions. */
export const DPOP_ALGORITHMS = ASSERTION_ALGORITHMS

/** The maximum skew of a client's clock, in both directions. */
const IAT_WINDOW_SECONDS = 60
/**
 * The maximum lengths of the members of an RSA key, in base64url: they limit the cost of a signature check.
 */
const MAX_MODULUS_LENGTH = Math.ceil(4096 / 6)
const MAX_EXPONENT_LENGTH = Math.ceil(32 / 6)
const COMPACT_JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** The parts of a request that a proof is verified against. */
export type ProvableRequest = {
  /** The DPoP header; null when the request has none. */
  proof: string | null
  method: string
  /** The URL of the request without query, as this server is configured to be reached. */
  url: string
}

/** A verified proof; `consumeProof` checks that it was not used before. */
export type VerifiedProof = {
  /** SHA-256 thumbprint of the key whose possession the proof shows (RFC 7638). */
  jkt: string
  alg: string
  jti: string
  issuedAtSeconds: number
  /** The nonce for the next proof, when that of this proof expires soon; null otherwise. */
  nextNonce: string | null
}

function readProofHeader(proof: string): { alg?: unknown; typ?: unknown; jwk?: unknown } {
  try {
    return decodeProtectedHeader(proof)
  } catch {
    throw createNotJwtError()
  }
}

const isShortText = (length: number, member: unknown): boolean =>
  member === undefined || (typeof member === 'string' && member.length <= length)

function assertAcceptableKey(jwk: unknown): void {
  if (typeof jwk !== 'object' || jwk === null) throw createKeyError({ reason: 'the proof has no jwk' })
  if (PRIVATE_JWK_MEMBERS.some((member) => Object.hasOwn(jwk, member)))
    throw createKeyError({ reason: 'the jwk of the proof has private members' })
  const { n, e } = jwk as JWK
  if (!isShortText(MAX_MODULUS_LENGTH, n) || !isShortText(MAX_EXPONENT_LENGTH, e))
    throw createKeyError({
      reason: 'the RSA key of the proof is too long',
      expected: '4096 bits at most',
    })
}

/** Errors that an invalid proof causes; a RangeError is caused by members that are nested too deeply. */
const PROOF_ERRORS = [errors.JOSEError, TypeError, DOMException, RangeError]

/**
 * Verifies signature, type and algorithm (RFC 9449, section 4.3, points 2 to 7). Throws OAuthError
 * invalid_dpop_proof.
 */
async function verifyProofSignature(
  proof: string,
): Promise<{ jkt: string; alg: string; claims: Record<string, unknown> }> {
  const { alg, typ, jwk } = readProofHeader(proof)
  assertAcceptableKey(jwk)
  try {
    const options = { algorithms: [...DPOP_ALGORITHMS], typ: 'dpop+jwt', clockTolerance: IAT_WINDOW_SECONDS }
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, options)
    return { jkt: await calculateJwkThumbprint(jwk as JWK), alg: protectedHeader.alg, claims: payload }
  } catch (error) {
    if (error instanceof Error && PROOF_ERRORS.some((kind) => error instanceof kind))
      throw createInvalidProofError(
        'The DPoP proof is invalid: check its type, algorithm, key and signature.',
        {
          reason: error.message,
          alg: toLogText(alg),
          typ: toLogText(typ),
        },
      )
    throw error
  }
}

/** Compares `htu` with the URL of the request after normalization, without query and fragment. */
function isSameTarget(htu: unknown, url: string): boolean {
  if (typeof htu !== 'string' || !URL.canParse(htu)) return false
  const [given, expected] = [new URL(htu), new URL(url)]
  return (
    given.origin === expected.origin &&
    given.pathname === expected.pathname &&
    given.username + given.password === ''
  )
}

/**
 * Checks the claims against the request (RFC 9449, section 4.3, points 8 to 12). Throws OAuthError
 * invalid_dpop_proof.
 */
function assertMatchingClaims(
  { htm, htu, iat, jti, ath }: Record<string, unknown>,
  { method, url }: ProvableRequest,
  accessToken: string | null,
  now: Date,
): void {
  const createMismatchError = (claim: string, given: unknown, expected: string) =>
    createClaimError(claim, { reason: 'the proof is for another request', given: toLogText(given), expected })
  if (htm !== method) throw createMismatchError('htm', htm, method)
  // The query is ignored and may contain secrets: it is not recorded.
  if (!isSameTarget(htu, url)) throw createMismatchError('htu', toLogText(htu).replace(/[?#].*/s, ''), url)
  if (accessToken !== null && ath !== sha256Base64url(accessToken))
    throw createClaimError('ath', {
      reason: ath === undefined ? 'the proof has no ath' : 'the proof is for another access token',
    })
  if (typeof jti !== 'string' || jti === '') throw createClaimError('jti', { reason: 'the proof has no jti' })
  const seconds = typeof iat === 'number' ? toEpochSeconds(now) - iat : null
  if (seconds === null || Math.abs(seconds) > IAT_WINDOW_SECONDS)
    throw createClaimError('iat', {
      reason: 'the proof is too old, or from the future: check both clocks',
      seconds_old: seconds,
      expected: IAT_WINDOW_SECONDS,
    })
}

/**
 * Returns a new nonce when that of a proof expires soon, else null. Throws OAuthError use_dpop_nonce for an
 * invalid nonce.
 */
function selectNextNonce(nonce: unknown, now: Date): string | null {
  if (nonce === undefined) throw createNonceRequiredError('the proof has no nonce')
  const status = typeof nonce === 'string' ? getNonceStatus(nonce, now) : 'foreign'
  if (status === 'foreign')
    throw createNonceRequiredError('the nonce of the proof was not issued by this server')
  if (status === 'stale') throw createNonceRequiredError('the nonce of the proof has expired')
  return status === 'ageing' ? createNonce(now) : null
}

/**
 * Verifies the proof of a request, and of its access token if there is one (RFC 9449, section 4.3), except
 * that the proof was not used before. Throws OAuthError invalid_dpop_proof, or use_dpop_nonce with the
 * DPoP-Nonce header.
 */
export async function verifyProof(
  request: ProvableRequest,
  accessToken: string | null = null,
): Promise<VerifiedProof> {
  const now = new Date()
  if (!request.proof)
    throw createInvalidProofError('The DPoP header is missing.', {
      reason: 'the DPoP header is missing or empty',
    })
  // Repeated headers are joined with commas.
  if (request.proof.includes(','))
    throw createInvalidProofError('The DPoP header must have exactly one proof.', {
      reason: 'the DPoP header does not contain exactly one proof',
    })
  if (!COMPACT_JWT.test(request.proof)) throw createNotJwtError()
  const { jkt, alg, claims } = await verifyProofSignature(request.proof)
  assertMatchingClaims(claims, request, accessToken, now)
  const nextNonce = selectNextNonce(claims.nonce, now)
  return { jkt, alg, jti: claims.jti as string, issuedAtSeconds: claims.iat as number, nextNonce }
}

/** Throws OAuthError invalid_dpop_proof when a client may not use the algorithm of its proof. */
export function assertPermittedAlgorithm(
  { alg }: Pick<VerifiedProof, 'alg'>,
  client: { requireFapiAlgorithms: boolean },
): void {
  const permitted = listClientAlgorithms(client)
  if (!permitted.includes(alg))
    throw createInvalidProofError('The client may not use the algorithm of the DPoP proof.', {
      reason: 'the client may not use the algorithm of the proof',
      alg,
      expected: permitted.join(' '),
    })
}

/**
 * Records the use of a proof. Throws OAuthError invalid_dpop_proof when any process has recorded it before.
 * One statement. See docs/decisions/0029.
 */
export async function consumeProof(
  tenant: string,
  { jkt, jti, issuedAtSeconds }: VerifiedProof,
): Promise<void> {
  const untilSeconds = Math.ceil(issuedAtSeconds) + IAT_WINDOW_SECONDS
  if (!(await recordFirstUse(new Handle({ tenant }), { kind: 'dpop', owner: jkt, jti, untilSeconds })))
    throw createInvalidProofError('The DPoP proof was used before.', {
      reason: 'the proof was used before',
      claim: 'jti',
      given: jti,
    })
}
