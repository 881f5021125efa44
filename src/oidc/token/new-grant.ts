import { selectGrantableScopes } from '../model/scopes.ts'
import type { TokenRequest, TokenResponse } from '../model/token-request.ts'
import { startClientSession } from './client-sessions.ts'
import { narrowResources } from './granted-resources.ts'
import type { NewGrant } from './new-grant.sql.ts'
import { formatRefreshToken } from './refresh-tokens.ts'
import { issueUserTokens } from './token-response.ts'

/**
 * Issues the tokens of a new grant: with offline_access the first refresh token, whose secret is `secret`,
 * and with scope `session` the token of a client session. Throws OAuthError.
 */
export async function issueNewGrantTokens(
  request: TokenRequest,
  grant: NewGrant,
  secret: string,
): Promise<TokenResponse> {
  const { ctx, tenant, client } = request
  const refreshToken = grant.offline
    ? formatRefreshToken(tenant.tokenKey, { grantId: grant.grantId, generation: 0, secret })
    : null
  const scopes = selectGrantableScopes(grant.scopes, client, grant.roles)
  const resources = narrowResources(request, grant)
  const response = await issueUserTokens(request, { ...grant, scopes, resources }, refreshToken)
  return scopes.includes('session')
    ? { ...response, session_token: await startClientSession(ctx, client, grant) }
    : response
}
