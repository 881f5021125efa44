import type { ClaimsRequest } from '../authorize/claims-request.ts'
import { grantableScopes } from '../scopes.ts'
import { startClientSession } from './client-sessions.ts'
import type { NewGrant } from './new-grant.sql.ts'
import { writeRefreshToken } from './refresh-tokens.ts'
import { narrowedResources } from './token-resources.ts'
import { issueToPerson, type TokenRequest, type TokenResponse } from './token-response.ts'

/**
 * Answers with what a grant that was just made comes to: its tokens, the first refresh token if it is offline (`secret` is
 * theirs), and with scope `session` a session of the client's own.
 */
export async function answerNewGrant(
  request: TokenRequest,
  grant: NewGrant<ClaimsRequest>,
  secret: string,
): Promise<TokenResponse> {
  const { ctx, tenant, client } = request
  const refreshToken = grant.offline
    ? writeRefreshToken(tenant.tokenKey, { grantId: grant.grantId, generation: 0, secret })
    : null
  const scopes = grantableScopes(grant.scopes, client, grant.roles)
  const resources = narrowedResources(tenant, grant, request.resources)
  const response = await issueToPerson(request, { ...grant, scopes, resources }, refreshToken)
  return scopes.includes('session')
    ? { ...response, session_token: await startClientSession(ctx, client, grant) }
    : response
}
