import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, errors, type JWK, jwtVerify } from 'jose'
import { ASSERTION_ALGORITHMS, SECRET_MEMBERS } from '../../clients/client-keys.fields.ts'
import { sha256Base64url } from '../../crypto.ts'
import { OAuthError, type OAuthErrorCode, type Why } from '../../errors.ts'
import { epochSeconds } from '../../time.ts'
import { currentNonce, standingOfNonce } from './dpop-nonces.ts'
import { textOf } from './member-text.ts'
import { isFirstUse } from './used-proofs.ts'

/** Algorithms that proofs may be signed by: those of any key of a client's. */
export const DPOP_ALGORITHMS = ASSERTION_ALGORITHMS

/** How far a client's clock may be from ours, either way. */
const IAT_WINDOW_SECONDS = 60
/** The longest members of an RSA key, in base64url: a key that the caller makes up must not cost more than others. */
const MAX_MODULUS_LENGTH = Math.ceil(4096 / 6)
const MAX_EXPONENT_LENGTH = Math.ceil(32 / 6)
const COMPACT_JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** A request, as its proof has to be of it. */
export type ProvableRequest = {
  /** The header DPoP; null without one. */
  proof: string | null
  method: string
  /** Where it went by our own account, without query. */
  url: string
}

/** A proof that is good, but for its use being the first. */
export type Proof = {
  /** Thumbprint of the key that it proves to be held (RFC 7638, by SHA-256). */
  jkt: string
  jti: string
  issuedAtSeconds: number
  /** For the next proof, when the nonce of this one runs out before long; else null. */
  nextNonce: string | null
}

/** A refusal as the token endpoint tells it; resources tell it in a challenge. */
const refusal = (error: OAuthErrorCode, description: string, why: Why): OAuthError =>
  new OAuthError(error, description, {
    why,
    ...(error === 'use_dpop_nonce' && { headers: { 'dpop-nonce': currentNonce() } }),
  })

/** The caller made the proof, and may know what of it is wrong; what was expected is for the log. */
const invalid = (description: string, why: Why): OAuthError => refusal('invalid_dpop_proof', description, why)

const noJwt = (): OAuthError =>
  invalid('The header DPoP holds no JWT.', { reason: 'the header DPoP holds no JWT' })

const badKey = (why: Why): OAuthError =>
  invalid('The key of the DPoP proof is missing, or not one to be taken.', why)

const badClaim = (claim: string, why: Why): OAuthError =>
  invalid(`The claim ${claim} of the DPoP proof is missing, or not one of this request.`, { ...why, claim })

const needsNonce = (reason: string): OAuthError =>
  refusal('use_dpop_nonce', 'The DPoP proof must have the nonce that comes with this answer.', { reason })

function headerOf(proof: string): { alg?: unknown; typ?: unknown; jwk?: unknown } {
  try {
    return decodeProtectedHeader(proof)
  } catch {
    throw noJwt()
  }
}

const isWithin = (length: number, member: unknown): boolean =>
  member === undefined || (typeof member === 'string' && member.length <= length)

function refuseKey(jwk: unknown): void {
  if (typeof jwk !== 'object' || jwk === null) throw badKey({ reason: 'the proof has no jwk' })
  if (SECRET_MEMBERS.some((member) => Object.hasOwn(jwk, member)))
    throw badKey({ reason: 'the jwk of the proof has private members' })
  const { n, e } = jwk as JWK
  if (!isWithin(MAX_MODULUS_LENGTH, n) || !isWithin(MAX_EXPONENT_LENGTH, e))
    throw badKey({
      reason: 'the RSA key of the proof is too long',
      expected: '4096 bits at most',
    })
}

/** What a proof can make of its verification: of members that are nested too deeply, a RangeError. */
const FAULTS_OF_PROOFS = [errors.JOSEError, TypeError, DOMException, RangeError]

/** Signature, type and algorithm (RFC 9449, section 4.3, points 2 to 7). */
async function verify(proof: string): Promise<{ jkt: string; claims: Record<string, unknown> }> {
  const { alg, typ, jwk } = headerOf(proof)
  refuseKey(jwk)
  try {
    const options = { algorithms: [...DPOP_ALGORITHMS], typ: 'dpop+jwt', clockTolerance: IAT_WINDOW_SECONDS }
    const { payload } = await jwtVerify(proof, EmbeddedJWK, options)
    return { jkt: await calculateJwkThumbprint(jwk as JWK), claims: payload }
  } catch (error) {
    if (error instanceof Error && FAULTS_OF_PROOFS.some((kind) => error instanceof kind))
      throw invalid('The DPoP proof is not valid: look at its type, algorithm, key and signature.', {
        reason: error.message,
        alg: textOf(alg),
        typ: textOf(typ),
      })
    throw error
  }
}

/** Whether `htu` names the URL that was called; its query and fragment do not count, nor other spellings of its host. */
function isOf(htu: unknown, url: string): boolean {
  if (typeof htu !== 'string' || !URL.canParse(htu)) return false
  const [given, expected] = [new URL(htu), new URL(url)]
  return (
    given.origin === expected.origin &&
    given.pathname === expected.pathname &&
    given.username + given.password === ''
  )
}

/** The first claim that is not this request's (RFC 9449, section 4.3, points 8 to 12). */
function refuseClaims(
  { htm, htu, iat, jti, ath }: Record<string, unknown>,
  { method, url }: ProvableRequest,
  accessToken: string | null,
  now: Date,
): void {
  const differs = (claim: string, given: unknown, expected: string) =>
    badClaim(claim, { reason: 'the proof is for another request', given: textOf(given), expected })
  if (htm !== method) throw differs('htm', htm, method)
  // Its query is for nobody: it does not count, and may hold anything.
  if (!isOf(htu, url)) throw differs('htu', textOf(htu).replace(/[?#].*/s, ''), url)
  if (accessToken !== null && ath !== sha256Base64url(accessToken))
    throw badClaim('ath', {
      reason: ath === undefined ? 'the proof has no ath' : 'the proof is for another access token',
    })
  if (typeof jti !== 'string' || jti === '') throw badClaim('jti', { reason: 'the proof has no jti' })
  const seconds = typeof iat === 'number' ? epochSeconds(now) - iat : null
  if (seconds === null || Math.abs(seconds) > IAT_WINDOW_SECONDS)
    throw badClaim('iat', {
      reason: 'the proof is too old, or from the future: are both clocks right?',
      seconds_old: seconds,
      expected: IAT_WINDOW_SECONDS,
    })
}

/** How long a nonce of ours is good for. Throws OAuthError use_dpop_nonce for none, an older one, or another's. */
function nextNonceAfter(nonce: unknown, now: Date): string | null {
  if (nonce === undefined) throw needsNonce('the proof has no nonce')
  const standing = typeof nonce === 'string' ? standingOfNonce(nonce, now) : 'foreign'
  if (standing === 'foreign') throw needsNonce('the nonce of the proof is not one of ours')
  if (standing === 'stale') throw needsNonce('the nonce of the proof has expired')
  return standing === 'ageing' ? currentNonce(now) : null
}

/**
 * Checks a proof against the request that it came with, and the access token beside it if there is one (RFC 9449, section
 * 4.3), all but that it is used for the first time. Throws OAuthError invalid_dpop_proof, or use_dpop_nonce with the header
 * DPoP-Nonce.
 */
export async function checkProof(
  request: ProvableRequest,
  accessToken: string | null = null,
  now = new Date(),
): Promise<Proof> {
  if (!request.proof)
    throw invalid('The header DPoP is missing.', { reason: 'the header DPoP is missing, or empty' })
  // Several headers arrive as one, with commas between them.
  if (request.proof.includes(','))
    throw invalid('The header DPoP must hold exactly one proof.', {
      reason: 'the header DPoP must hold exactly one proof',
    })
  if (!COMPACT_JWT.test(request.proof)) throw noJwt()
  const { jkt, claims } = await verify(request.proof)
  refuseClaims(claims, request, accessToken, now)
  const nextNonce = nextNonceAfter(claims.nonce, now)
  return { jkt, jti: claims.jti as string, issuedAtSeconds: claims.iat as number, nextNonce }
}

/** Uses a proof up. Throws OAuthError invalid_dpop_proof when it was used before, wherever that was. One statement. */
export async function useProof(tenant: string, { jkt, jti, issuedAtSeconds }: Proof): Promise<void> {
  const untilSeconds = Math.ceil(issuedAtSeconds) + IAT_WINDOW_SECONDS
  if (!(await isFirstUse(tenant, { kind: 'dpop', owner: jkt, jti, untilSeconds })))
    throw invalid('The DPoP proof was used before.', {
      reason: 'the proof was used before',
      claim: 'jti',
      given: jti,
    })
}
