import type { JWTPayload } from 'jose'
import { OAuthError, type OAuthErrorCode, type Why } from '../../errors.ts'
import { checkProof, DPOP_ALGORITHMS, type Proof, type ProvableRequest, useProof } from './dpop.ts'

const ALGORITHMS = `algs="${DPOP_ALGORITHMS.join(' ')}"`
/** What a caller without a token is told (RFC 9449, section 7.1): Bearer will do, and so will this. */
export const DPOP_CHALLENGE = `DPoP ${ALGORITHMS}`

/** An access token, and the scheme that it was presented by. */
export type PresentedAccessToken = { token: string; scheme: 'Bearer' | 'DPoP' }

const PRESENTED = /^(bearer|dpop) +([A-Za-z0-9\-._~+/]+=*) *$/i

/** The token of an Authorization header (RFC 6750, section 2.1; RFC 9449, section 7.1); null for anything else. */
export function readAuthorization(authorization: string): PresentedAccessToken | null {
  const [, scheme = '', token] = PRESENTED.exec(authorization) ?? []
  return token ? { token, scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer' } : null
}

/**
 * A challenge of a scheme (RFC 6750, section 3), of which DPoP's tells what proofs may be signed by (RFC 9449, section 7.1), and
 * Bearer's as much as the surface does: `realm` and description, or the error alone. `scope` is what the token lacks.
 */
export function challengeOf(
  scheme: PresentedAccessToken['scheme'],
  error: OAuthErrorCode,
  description: string,
  { realm, scope }: { realm?: string; scope?: string } = {},
): string {
  const told = `error="${error}", error_description="${description}"`
  const bearer = realm === undefined ? `error="${error}"` : `realm="${realm}", ${told}`
  const challenge = scheme === 'DPoP' ? `DPoP ${told}, ${ALGORITHMS}` : `Bearer ${bearer}`
  return scope === undefined ? challenge : `${challenge}, scope="${scope}"`
}

/** How the key of a bound token is proven: by the request, or as what was proven before on the same connection. */
export type KeyProof = ProvableRequest | { provenJkt: string | null }

/** The key that a token turned out to be bound to. */
export type Binding = {
  jkt: string | null
  /** For the header DPoP-Nonce, when the caller's next proof should have another nonce. */
  nextNonce: string | null
}

/** The key that an access token is bound to (RFC 9449, section 6.1); null for one that is bound to none. */
function boundKeyOf({ cnf }: Readonly<JWTPayload>): string | null {
  const jkt = (cnf as { jkt?: unknown } | undefined)?.jkt
  return typeof jkt === 'string' ? jkt : null
}

function refusal(
  error: OAuthErrorCode,
  description: string,
  rest: { why?: Why; nonce?: Record<string, string> },
) {
  return new OAuthError(error, description, {
    status: 401,
    headers: { 'www-authenticate': challengeOf('DPoP', error, description), ...rest.nonce },
    why: rest.why,
  })
}

const notBound = (description: string, why?: Why) => refusal('invalid_token', description, { why })

/**
 * Checks that a token is presented the way it is bound: one with a key by the scheme DPoP and a proof by that key, which is
 * used up; one without by Bearer (RFC 9449, section 7). Throws OAuthError with status 401 and a challenge. One statement
 * for bound tokens, none for others.
 */
export async function checkBinding(
  tenant: string,
  { token, scheme }: PresentedAccessToken,
  payload: Readonly<JWTPayload>,
  by: KeyProof,
): Promise<Binding> {
  const jkt = boundKeyOf(payload)
  if (scheme === 'Bearer') {
    if (jkt === null) return { jkt: null, nextNonce: null }
    throw notBound('The access token is bound to a key: present it by the scheme DPoP, with a proof.', {
      reason: 'the access token is bound to a key, and came as a bearer token',
    })
  }
  if (jkt === null)
    throw notBound('The access token is bound to no key: present it by the scheme Bearer.', {
      reason: 'the access token is bound to no key, and came by the scheme DPoP',
    })
  if ('provenJkt' in by) {
    if (by.provenJkt === jkt) return { jkt, nextNonce: null }
    throw notBound('The key of the access token is not proven.')
  }
  const proof = await provenBy(tenant, by, token, jkt)
  return { jkt, nextNonce: proof.nextNonce }
}

/** A challenge of what a good token does not permit, in the scheme that it came by (RFC 9449, section 7.1). */
export const inSchemeOf = ({ jkt }: Binding, challenge: string): string =>
  jkt === null ? challenge : challenge.replace(/^Bearer (.*)$/, `DPoP $1, ${ALGORITHMS}`)

async function provenBy(tenant: string, by: ProvableRequest, token: string, jkt: string): Promise<Proof> {
  try {
    const proof = await checkProof(by, token)
    if (proof.jkt !== jkt)
      throw notBound('The DPoP proof is not by the key that the access token is bound to.', {
        reason: 'the proof is by another key',
        given: proof.jkt,
        expected: jkt,
      })
    await useProof(tenant, proof)
    return proof
  } catch (error) {
    if (!(error instanceof OAuthError) || error.status === 401) throw error
    throw refusal(error.error, error.message, { why: error.why, nonce: error.headers })
  }
}
