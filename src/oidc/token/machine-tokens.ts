import type { CachedClient } from '../../clients/client-cache.ts'
import { isScope, SYSTEM_SCOPES, SYSTEM_TENANT } from '../../ctx.ts'
import { env } from '../../env.ts'
import { OAuthError } from '../../errors.ts'
import { type CachedTenant, findTenant } from '../../tenants/tenant-cache.ts'
import { apiAudienceOf } from '../keys/keys.ts'
import { toScopes } from '../scopes.ts'
import { issueAccessToken } from './access-tokens.ts'
import { allowedResources, audienceOf } from './audience.ts'
import { lifetimeOf, type TokenRequest, type TokenResponse, tokenTypeOf } from './token-response.ts'

/** client_credentials (RFC 6749, section 4.4): management scopes out of those that the client was given. */
export async function issueToMachine({
  tenant,
  client,
  form,
  resources,
  dpopJkt,
}: TokenRequest): Promise<TokenResponse> {
  const own = client.scopes.filter(
    (scope) => tenant.tenantId === SYSTEM_TENANT || !(isScope(scope) && SYSTEM_SCOPES.includes(scope)),
  )
  const scopes = form.scope === undefined ? own : toScopes(form.scope)
  const notGiven = scopes.filter((scope) => !own.includes(scope))
  if (notGiven.length > 0)
    throw new OAuthError('invalid_scope', 'The client may not ask for one of these scopes.', {
      why: { not_given: notGiven.join(' '), allowed: own.join(' ') },
    })
  const lifetimeSeconds = lifetimeOf(client)
  const accessToken = await issueAccessToken(tenant.tenantId, {
    subject: client.id,
    clientId: client.id,
    scopes,
    audience: await machineAudience(tenant, client, scopes, resources),
    lifetimeSeconds,
    dpopJkt,
  })
  return {
    access_token: accessToken,
    token_type: tokenTypeOf(dpopJkt),
    expires_in: lifetimeSeconds,
    scope: scopes.join(' '),
  }
}

/** `resource` narrows the token to APIs of this tenant, and an operator's to the management surface of other tenants (RFC 8707). */
async function machineAudience(
  tenant: CachedTenant,
  client: CachedClient,
  scopes: string[],
  resources: string[],
): Promise<string[]> {
  for (const resource of resources)
    if (
      !(client.allTenants && (await isOfTenant(resource))) &&
      !(await allowedResources(tenant, [resource])).includes(resource)
    )
      throw new OAuthError('invalid_target', 'The resource is not one that this client may call.', {
        why: { resource },
      })
  return audienceOf(tenant, scopes, resources)
}

async function isOfTenant(resource: string): Promise<boolean> {
  const prefix = `${env.baseUrl}/`
  const slug = resource.startsWith(prefix) ? resource.slice(prefix.length, -'/api'.length) : ''
  return apiAudienceOf(slug) === resource && (await findTenant(slug)) !== null
}
