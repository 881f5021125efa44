import type { JWTPayload } from 'jose'
import { type Diagnostics, OAuthError, type OAuthErrorCode } from '../../core/oauth-error.ts'
import {
  assertPermittedAlgorithm,
  consumeProof,
  DPOP_ALGORITHMS,
  type ProvableRequest,
  type VerifiedProof,
  verifyProof,
} from './dpop.ts'

const ALGORITHMS_PARAMETER = `algs="${DPOP_ALGORITHMS.join(' ')}"`
/** The DPoP challenge for a request without a token (RFC 9449, section 7.1). */
export const DPOP_CHALLENGE = `DPoP ${ALGORITHMS_PARAMETER}`

/** An access token with the authentication scheme of its Authorization header. */
export type PresentedAccessToken = { token: string; scheme: 'Bearer' | 'DPoP' }

const AUTHORIZATION_SYNTAX = /^(bearer|dpop) +([A-Za-z0-9\-._~+/]+=*) *$/i

/**
 * Parses an Authorization header (RFC 6750, section 2.1; RFC 9449, section 7.1); null for other schemes and
 * malformed headers.
 */
export function parseAuthorization(authorization: string): PresentedAccessToken | null {
  const [, scheme = '', token] = AUTHORIZATION_SYNTAX.exec(authorization) ?? []
  return token ? { token, scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer' } : null
}

/**
 * Builds a WWW-Authenticate challenge (RFC 6750, section 3). That of DPoP has the description and the
 * algorithms of proofs (RFC 9449, section 7.1); that of Bearer has the description only with `realm`. `scope`
 * is the missing scope.
 */
export function buildChallenge(
  scheme: PresentedAccessToken['scheme'],
  error: OAuthErrorCode,
  description: string,
  { realm, scope }: { realm?: string; scope?: string } = {},
): string {
  const parameters = `error="${error}", error_description="${description}"`
  const bearer = realm === undefined ? `error="${error}"` : `realm="${realm}", ${parameters}`
  const challenge = scheme === 'DPoP' ? `DPoP ${parameters}, ${ALGORITHMS_PARAMETER}` : `Bearer ${bearer}`
  return scope === undefined ? challenge : `${challenge}, scope="${scope}"`
}

/** How possession of a key is proven: by the proof of the request, or earlier on the same connection. */
export type KeyProof = ProvableRequest | { provenJkt: string | null }

/** The key that a verified token is bound to; `jkt` is null for a bearer token. */
export type TokenBinding = {
  jkt: string | null
  /** The algorithm of the proof of this request; null without one. */
  alg: string | null
  /** The value of the DPoP-Nonce response header; null when the nonce of the proof stays valid. */
  nextNonce: string | null
}

/** The binding of a bearer token. */
export const UNBOUND: TokenBinding = { jkt: null, alg: null, nextNonce: null }

/**
 * Returns the thumbprint of the key that an access token is bound to (RFC 9449, section 6.1); null for a
 * bearer token.
 */
function readBoundKey({ cnf }: Readonly<JWTPayload>): string | null {
  const jkt = (cnf as { jkt?: unknown } | undefined)?.jkt
  return typeof jkt === 'string' ? jkt : null
}

function createBindingError(
  error: OAuthErrorCode,
  description: string,
  { diagnostics, headers }: { diagnostics?: Diagnostics; headers?: Record<string, string> },
) {
  return new OAuthError(error, description, {
    status: 401,
    headers: { 'www-authenticate': buildChallenge('DPoP', error, description), ...headers },
    diagnostics,
  })
}

const createMismatchError = (description: string, diagnostics?: Diagnostics) =>
  createBindingError('invalid_token', description, { diagnostics })

/**
 * Checks that a bound token is presented with the scheme DPoP and a proof of its key, and another token with
 * the scheme Bearer (RFC 9449, section 7). The proof is recorded as used. One statement for bound tokens,
 * none for others. Throws OAuthError with status 401 and a challenge.
 */
export async function verifyBinding(
  tenant: string,
  { token, scheme }: PresentedAccessToken,
  payload: Readonly<JWTPayload>,
  keyProof: KeyProof,
): Promise<TokenBinding> {
  const jkt = readBoundKey(payload)
  if (scheme === 'Bearer') {
    if (jkt === null) return UNBOUND
    throw createMismatchError(
      'The access token is bound to a key: present it with the scheme DPoP and a proof.',
      {
        reason: 'a bound access token was presented as a bearer token',
      },
    )
  }
  if (jkt === null)
    throw createMismatchError('The access token is not bound to a key: present it with the scheme Bearer.', {
      reason: 'an unbound access token was presented with the scheme DPoP',
    })
  if ('provenJkt' in keyProof) {
    if (keyProof.provenJkt === jkt) return { jkt, alg: null, nextNonce: null }
    throw createMismatchError('Possession of the key of the access token is not proven.')
  }
  const proof = await verifyBoundProof(tenant, keyProof, token, jkt)
  return { jkt, alg: proof.alg, nextNonce: proof.nextNonce }
}

/**
 * Checks that a client may use a token without a binding, and the algorithm of its proof. A token from before the client
 * had to use DPoP is rejected. Throws OAuthError with status 401 and a challenge.
 */
export function assertClientBinding(
  { jkt, alg }: TokenBinding,
  client: { dpopBoundAccessTokens: boolean; requireFapiAlgorithms: boolean },
): void {
  if (jkt === null && client.dpopBoundAccessTokens)
    throw createMismatchError('The client must use DPoP, and the access token is not bound to a key.', {
      reason: 'an unbound access token of a client that must use DPoP',
    })
  if (alg === null) return
  try {
    assertPermittedAlgorithm({ alg }, client)
  } catch (error) {
    throw toBindingError(error)
  }
}

/**
 * Converts a Bearer challenge for an insufficient scope to the scheme of the token (RFC 9449, section 7.1).
 */
export const toBoundChallenge = ({ jkt }: TokenBinding, challenge: string): string =>
  jkt === null ? challenge : challenge.replace(/^Bearer (.*)$/, `DPoP $1, ${ALGORITHMS_PARAMETER}`)

async function verifyBoundProof(
  tenant: string,
  request: ProvableRequest,
  token: string,
  jkt: string,
): Promise<VerifiedProof> {
  try {
    const proof = await verifyProof(request, token)
    if (proof.jkt !== jkt)
      throw createMismatchError(
        'The DPoP proof is signed with another key than the access token is bound to.',
        {
          reason: 'the proof is signed with another key',
          given: proof.jkt,
          expected: jkt,
        },
      )
    await consumeProof(tenant, proof)
    return proof
  } catch (error) {
    throw toBindingError(error)
  }
}

/** The error about a proof as a resource sends it; any other error is returned as it is. */
function toBindingError(error: unknown): unknown {
  if (!(error instanceof OAuthError) || error.status === 401) return error
  const { diagnostics, headers } = error
  return createBindingError(error.error, error.message, { diagnostics, headers })
}
