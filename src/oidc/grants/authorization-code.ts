import { randomToken } from '../../core/crypto.ts'
import { isPublicClient } from '../../model/public-clients.ts'
import { requireParameter, type TokenRequest, type TokenResponse } from '../model/token-request.ts'
import { listTokenApis } from '../token/authorization-claims.ts'
import { readCode, redeemCode } from '../token/authorization-codes.ts'
import { issueNewGrantTokens } from '../token/new-grant.ts'

/** The authorization_code grant (RFC 6749, section 4.1.3; RFC 7636, section 4.5). Throws OAuthError. */
export async function exchangeCode(request: TokenRequest): Promise<TokenResponse> {
  const { ctx, tenant, client, form, dpopJkt } = request
  const presented = {
    code: requireParameter(form, 'code'),
    redirectUri: requireParameter(form, 'redirect_uri'),
    codeVerifier: form.code_verifier ?? null,
    dpopJkt,
  }
  // Codes of these clients always have a challenge, which needs a verifier (RFC 7636, section 4.6).
  if (isPublicClient(client) || client.requirePkce) requireParameter(form, 'code_verifier')
  const contents = readCode(tenant, presented)
  // Before the code is used.
  const apis = contents?.clientId === client.id ? await listTokenApis(request, contents) : []
  const secret = randomToken()
  const grant = await redeemCode(ctx, client, contents, presented, { refreshSecret: secret, apis })
  return issueNewGrantTokens(request, grant, secret)
}
