import type { CachedClient } from '../clients/client-cache.ts'
import { randomToken, sha256 } from '../crypto.ts'
import { type Ctx, isScope, SYSTEM_SCOPES, SYSTEM_TENANT } from '../ctx.ts'
import { sql } from '../db.ts'
import { env } from '../env.ts'
import { OAuthError } from '../errors.ts'
import { toEventRow, wakeReaders } from '../events.ts'
import { type CachedTenant, findTenant } from '../tenants/tenant-cache.ts'
import { issueAccessToken } from './access-tokens.ts'
import { audienceOf } from './audience.ts'
import { isPublic } from './client-authentication.ts'
import { after, GRANT_IDLE_SECONDS, redeem } from './codes.ts'
import { type PresentedToken, refreshGrant, selectGrantScopes } from './grants.sql.ts'
import { issueIdToken } from './id-tokens.ts'
import { apiAudienceOf } from './keys.ts'
import { readRefreshToken, writeRefreshToken } from './refresh-tokens.ts'
import { grantableScopes, toScopes } from './scopes.ts'

/** Of clients that set no tokenExpiryTime. */
export const DEFAULT_TOKEN_LIFETIME_SECONDS = 3600
/** A client that lost an answer asks again within this time, and gets the same answer. */
export const REFRESH_RETRY_SECONDS = 30

/** A successful answer (RFC 6749, section 5.1; OIDC Core, section 3.1.3.3). */
export type TokenResponse = {
  access_token: string
  token_type: 'Bearer'
  expires_in: number
  scope: string
  id_token?: string
  refresh_token?: string
}

/** A token request whose client is authenticated. */
export type TokenRequest = {
  ctx: Ctx
  tenant: CachedTenant
  client: CachedClient
  form: Record<string, string>
}
type GrantType = (request: TokenRequest) => Promise<TokenResponse>

/** A new grant type is one line here. */
const GRANT_TYPES: Record<string, GrantType> = {
  authorization_code: exchangeCode,
  refresh_token: refresh,
  client_credentials: issueToMachine,
}
export const GRANT_TYPE_NAMES = Object.keys(GRANT_TYPES)

/** Answers a token request by its grant_type (RFC 6749, section 3.2). Throws OAuthError. */
export async function answerTokenRequest(request: TokenRequest): Promise<TokenResponse> {
  const type = required(request.form, 'grant_type')
  if (!Object.hasOwn(GRANT_TYPES, type))
    throw new OAuthError('unsupported_grant_type', `Supported here: ${GRANT_TYPE_NAMES.join(', ')}.`)
  const isMachine = request.client.appType === 'machine'
  if (isMachine !== (type === 'client_credentials'))
    throw new OAuthError('unauthorized_client', 'The client may not use this grant_type.')
  return (GRANT_TYPES[type] as GrantType)(request)
}

function required(form: Record<string, string>, name: string): string {
  const value = form[name]
  if (!value) throw new OAuthError('invalid_request', `${name} is missing.`)
  // No text column holds U+0000.
  if (value.includes('\u0000')) throw new OAuthError('invalid_request', `${name} contains U+0000.`)
  return value
}

const lifetimeOf = (client: CachedClient): number => client.tokenExpiryTime ?? DEFAULT_TOKEN_LIFETIME_SECONDS

/** What the tokens of a person are issued for. */
type PersonGrant = {
  grantId: string
  userId: string
  sessionId: string | null
  scopes: string[]
  resources: string[]
  nonce: string | null
  authenticatedAt: Date
  amr: string[]
}

async function issueToPerson(
  { tenant, client }: TokenRequest,
  grant: PersonGrant,
  refreshToken: string | null,
): Promise<TokenResponse> {
  const lifetimeSeconds = lifetimeOf(client)
  const accessToken = await issueAccessToken(tenant.tenantId, {
    subject: grant.userId,
    clientId: client.id,
    scopes: grant.scopes,
    audience: audienceOf(tenant, grant.scopes, grant.resources[0] ?? null),
    lifetimeSeconds,
    grantId: grant.grantId,
    sessionId: grant.sessionId,
    authenticatedAt: grant.authenticatedAt,
  })
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: lifetimeSeconds,
    scope: grant.scopes.join(' '),
    ...(refreshToken !== null && { refresh_token: refreshToken }),
    ...(grant.scopes.includes('openid') && {
      id_token: await issueIdToken(tenant.tenantId, {
        ...grant,
        clientId: client.id,
        accessToken,
        lifetimeSeconds,
      }),
    }),
  }
}

/** authorization_code (RFC 6749, section 4.1.3; RFC 7636, section 4.5). */
async function exchangeCode(request: TokenRequest): Promise<TokenResponse> {
  const { ctx, tenant, client, form } = request
  const presented = {
    code: required(form, 'code'),
    redirectUri: required(form, 'redirect_uri'),
    codeVerifier: form.code_verifier ?? null,
  }
  // Codes of public clients always have a challenge, so that a missing verifier cannot match (RFC 7636, section 4.6).
  if (isPublic(client)) required(form, 'code_verifier')
  const secret = randomToken()
  const grant = await redeem(ctx, client.id, presented, {
    refreshSecret: secret,
    lifetimeSeconds: lifetimeOf(client),
  })
  const refreshToken = grant.offline
    ? writeRefreshToken(tenant.tokenKey, { grantId: grant.grantId, generation: 0, secret })
    : null
  const scopes = grantableScopes(grant.scopes, client, grant.roles)
  return issueToPerson(request, { ...grant, scopes }, refreshToken)
}

const invalidRefreshToken = () =>
  new OAuthError('invalid_grant', 'The refresh token is invalid, expired, or was used before.')

/**
 * refresh_token (RFC 6749, section 6; RFC 9700, section 4.14.2). The token rotates with every use, by one statement.
 * A retry within 30 s gets the identical successor; an older token revokes the grant; one that is ahead of the stored
 * generation (of a database restored from a copy) is refused without revoking.
 */
async function refresh(request: TokenRequest): Promise<TokenResponse> {
  const { ctx, tenant, client, form } = request
  const token = readRefreshToken(tenant.tokenKey, required(form, 'refresh_token'))
  if (!token) throw invalidRefreshToken()
  const now = new Date()
  const asked = form.scope === undefined ? null : toScopes(form.scope)
  const presented = {
    grantId: token.grantId,
    generation: token.generation,
    secretHash: sha256(token.secret),
    clientId: client.id,
    scopes: asked,
    now,
    retryFrom: after(now, -REFRESH_RETRY_SECONDS),
    idleExpiresAt: after(now, GRANT_IDLE_SECONDS),
  }
  const grant = await refreshGrant(sql, ctx.tenant, presented, toEventRow(ctx, { type: 'grant.refreshed' }))
  if (!grant && asked) await refuseWiderScope(ctx.tenant, presented, asked)
  if (grant && grant.outcome !== 'repeated') wakeReaders(ctx.tenant)
  if (!grant || grant.outcome === 'replayed') throw invalidRefreshToken()
  const scopes = grantableScopes(asked ?? grant.scopes, client, grant.roles)
  const successor = writeRefreshToken(tenant.tokenKey, { ...token, generation: token.generation + 1 })
  return issueToPerson(request, { ...grant, grantId: token.grantId, scopes, nonce: null }, successor)
}

/** Tells a scope that is too wide from a token that is wrong; only after a refusal. */
async function refuseWiderScope(tenant: string, presented: PresentedToken, asked: string[]): Promise<void> {
  const granted = await selectGrantScopes(sql, tenant, presented)
  if (granted && asked.some((scope) => !granted.includes(scope)))
    throw new OAuthError('invalid_scope', 'A refresh cannot ask for more than was granted.')
}

/** client_credentials (RFC 6749, section 4.4): management scopes out of those that the client was given. */
async function issueToMachine({ tenant, client, form }: TokenRequest): Promise<TokenResponse> {
  const own = client.scopes.filter(
    (scope) => tenant.tenantId === SYSTEM_TENANT || !(isScope(scope) && SYSTEM_SCOPES.includes(scope)),
  )
  const scopes = form.scope === undefined ? own : toScopes(form.scope)
  if (scopes.some((scope) => !own.includes(scope)))
    throw new OAuthError('invalid_scope', 'The client may not ask for one of these scopes.')
  const lifetimeSeconds = lifetimeOf(client)
  const accessToken = await issueAccessToken(tenant.tenantId, {
    subject: client.id,
    clientId: client.id,
    scopes,
    audience: await machineAudience(tenant, client, scopes, form.resource ?? null),
    lifetimeSeconds,
  })
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: lifetimeSeconds,
    scope: scopes.join(' '),
  }
}

/** `resource` narrows an operator's token to the management surface of one tenant (RFC 8707). */
async function machineAudience(
  tenant: CachedTenant,
  client: CachedClient,
  scopes: string[],
  resource: string | null,
): Promise<string[]> {
  if (resource === null || [apiAudienceOf(tenant.tenantId), tenant.defaultAudience].includes(resource))
    return audienceOf(tenant, scopes, resource)
  const slug = resource.startsWith(`${env.baseUrl}/`)
    ? resource.slice(env.baseUrl.length + 1, -'/api'.length)
    : ''
  if (!client.allTenants || !(await findTenant(slug)) || apiAudienceOf(slug) !== resource)
    throw new OAuthError('invalid_target', 'The resource is not one that this client may call.')
  return [resource]
}
