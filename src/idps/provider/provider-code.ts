import type { Provider } from './provider.ts'
import { requestTokens, type TokenAnswer } from './provider-token-request.ts'

export type CodeProof = { code: string; redirectUri: string | null; codeVerifier: string | null }

/**
 * Redeems an authorization code at the provider (RFC 6749, section 4.1.3; RFC 7636). The ID token is not verified;
 * without one, the access token is the proof. Throws InvalidInput about `code` with the provider's error, or
 * Unavailable.
 */
export const redeemCode = (
  provider: Provider,
  { code, redirectUri, codeVerifier }: CodeProof,
): Promise<TokenAnswer> =>
  requestTokens(provider, 'code', 'authorization_code', {
    code,
    ...(redirectUri && { redirect_uri: redirectUri }),
    ...(codeVerifier && { code_verifier: codeVerifier }),
  })
