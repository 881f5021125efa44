import { type Diagnostics, OAuthError, type OAuthErrorCode } from '../../core/oauth-error.ts'
import { createNonce } from './dpop-nonces.ts'

/** An error as the token endpoint sends it; resources send it in a challenge. */
const createDpopError = (error: OAuthErrorCode, description: string, diagnostics: Diagnostics): OAuthError =>
  new OAuthError(error, description, {
    diagnostics,
    ...(error === 'use_dpop_nonce' && { headers: { 'dpop-nonce': createNonce() } }),
  })

/**
 * The description names the invalid part, since the caller created the proof; the expected values are
 * diagnostics.
 */
export const createInvalidProofError = (description: string, diagnostics: Diagnostics): OAuthError =>
  createDpopError('invalid_dpop_proof', description, diagnostics)

export const createNotJwtError = (): OAuthError =>
  createInvalidProofError('The DPoP header is not a JWT.', { reason: 'the DPoP header is not a JWT' })

export const createKeyError = (diagnostics: Diagnostics): OAuthError =>
  createInvalidProofError('The key of the DPoP proof is missing or not acceptable.', diagnostics)

export const createClaimError = (claim: string, diagnostics: Diagnostics): OAuthError =>
  createInvalidProofError(`The claim ${claim} of the DPoP proof is missing or does not match the request.`, {
    ...diagnostics,
    claim,
  })

export const createNonceRequiredError = (reason: string): OAuthError =>
  createDpopError(
    'use_dpop_nonce',
    'The DPoP proof must have the nonce of the DPoP-Nonce header of this response.',
    {
      reason,
    },
  )
