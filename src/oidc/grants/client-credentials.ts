import type { CachedClient } from '../../access/client-cache.ts'
import { findDeclaredApis } from '../../access/declared-resources.ts'
import { selectClientAccess } from '../../access/effective-access.sql.ts'
import { type CachedTenant, findTenant } from '../../access/tenant-cache.ts'
import { env } from '../../core/env.ts'
import { apiAudienceOf } from '../../core/issuer.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { isClientScope, isScope, parseScopeList, SYSTEM_SCOPES, SYSTEM_TENANT } from '../../core/scopes.ts'
import { requireAllowedResources } from '../model/requested-resources.ts'
import { toScopeMember } from '../model/scopes.ts'
import type { TokenRequest, TokenResponse } from '../model/token-request.ts'
import { issueAccessToken } from '../token/access-tokens.ts'
import { computeAudience, listAllowedResources } from '../token/audience.ts'
import { buildAuthorizationClaims, selectTokenApi } from '../token/authorization-claims.ts'
import { computeLifetime, getTokenType } from '../token/token-response.ts'
import { buildAccessTokenClaims } from '../token/user-claims.ts'

/**
 * The client_credentials grant (RFC 6749, section 4.4), for management scopes and those of shared signals that the client
 * has; a web client gets the latter alone. Throws OAuthError invalid_scope and invalid_target.
 */
export async function issueMachineToken({
  ctx,
  tenant,
  client,
  form,
  resources,
  dpopJkt,
}: TokenRequest): Promise<TokenResponse> {
  const allowed = client.scopes.filter(
    (scope) =>
      isClientScope(scope) ||
      (client.appType === 'machine' &&
        isScope(scope) &&
        (tenant.tenantId === SYSTEM_TENANT || !SYSTEM_SCOPES.includes(scope))),
  )
  const scopes = form.scope === undefined ? allowed : parseScopeList(form.scope)
  const excess = scopes.filter((scope) => !allowed.includes(scope))
  if (excess.length > 0)
    throw new OAuthError('invalid_scope', 'The client may not request one of these scopes.', {
      diagnostics: { not_allowed: excess.join(' '), allowed: allowed.join(' ') },
    })
  const audience = await computeMachineAudience(tenant, client, scopes, resources)
  const apis = await findDeclaredApis(tenant.tenantId, audience)
  const api = selectTokenApi(apis, audience)
  const access = await selectClientAccess(ctx.db, client.id, api?.permissionsInTokens ? [api.identifier] : [])
  const lifetimeSeconds = computeLifetime(client, apis)
  const accessToken = await issueAccessToken(tenant.tenantId, {
    subject: client.id,
    clientId: client.id,
    scopes,
    audience,
    claims: {
      ...buildAccessTokenClaims(client, api, null, scopes).claims,
      ...buildAuthorizationClaims(access, api).claims,
    },
    lifetimeSeconds,
    dpopJkt,
  })
  return {
    access_token: accessToken,
    token_type: getTokenType(dpopJkt),
    expires_in: lifetimeSeconds,
    ...toScopeMember(scopes),
  }
}

/**
 * `resource` narrows the token to APIs of this tenant; an operator may also select the management API of
 * other tenants (RFC 8707).
 */
async function computeMachineAudience(
  tenant: CachedTenant,
  client: CachedClient,
  scopes: string[],
  resources: string[],
): Promise<string[]> {
  // Its own token is for its streams alone, and for no API.
  if (client.appType !== 'machine')
    return requireAllowedResources(resources.length > 0 ? resources : [apiAudienceOf(tenant.tenantId)], [
      apiAudienceOf(tenant.tenantId),
    ])
  const audiences: string[] = []
  for (const resource of resources)
    if (client.allTenants && (await isTenantApiAudience(resource))) audiences.push(resource)
    else
      audiences.push(...requireAllowedResources([resource], await listAllowedResources(tenant, [resource])))
  return computeAudience(tenant, scopes, audiences)
}

async function isTenantApiAudience(resource: string): Promise<boolean> {
  const prefix = `${env.baseUrl}/`
  const slug = resource.startsWith(prefix) ? resource.slice(prefix.length, -'/api'.length) : ''
  return apiAudienceOf(slug) === resource && (await findTenant(slug)) !== null
}
