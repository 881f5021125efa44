import { isPublicClient } from '../../clients/auth-methods.ts'
import { randomToken, sha256 } from '../../core/crypto.ts'
import { requireParameter, type TokenRequest, type TokenResponse } from '../model/token-request.ts'
import { redeemPresentedCode } from '../token/authorization-codes.ts'
import { requireGrantedResources } from '../token/granted-resources.ts'
import { issueNewGrantTokens } from '../token/new-grant.ts'

/** The authorization_code grant (RFC 6749, section 4.1.3; RFC 7636, section 4.5). Throws OAuthError. */
export async function exchangeCode(request: TokenRequest): Promise<TokenResponse> {
  const { ctx, client, form, dpopJkt } = request
  const presented = {
    code: requireParameter(form, 'code'),
    redirectUri: requireParameter(form, 'redirect_uri'),
    codeVerifier: form.code_verifier ?? null,
    dpopJkt,
  }
  // Codes of public clients always have a challenge, which needs a verifier (RFC 7636, section 4.6).
  if (isPublicClient(client)) requireParameter(form, 'code_verifier')
  await requireGrantedResources(request, { from: 'AuthorizationCode', codeHash: sha256(presented.code) })
  const secret = randomToken()
  return issueNewGrantTokens(request, await redeemPresentedCode(ctx, client, presented, secret), secret)
}
