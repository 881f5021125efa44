import { parseAuthorization } from '../access/dpop/dpop-binding.ts'
import type { CachedTenant } from '../access/tenant-cache.ts'
import type { Client } from '../clients/clients.ts'
import type { Ctx } from '../context/context.ts'
import { consumeLimit } from '../coordination/rate-limits.ts'
import { type FieldIssue, NotFound } from '../core/errors.ts'
import { issuerOf } from '../core/issuer.ts'
import { OAuthError } from '../core/oauth-error.ts'
import { getAuthMethod, toClientMetadata } from './registration.fields.ts'

/** The client registration endpoint; client configuration endpoints are below it. */
export const buildRegistrationEndpoint = (tenant: string): string => `${issuerOf(tenant)}/oidc/register`

type RegistrationSettings = Pick<CachedTenant, 'dynamicRegistration' | 'openRegistration'>

/** Whether clients may register themselves, with a token or without one. */
export const hasRegistration = ({ dynamicRegistration, openRegistration }: RegistrationSettings): boolean =>
  dynamicRegistration || openRegistration

/** Throws NotFound when the tenant does not allow dynamic registration, and RateLimited. */
export async function requireRegistrationEnabled(ctx: Ctx, tenant: RegistrationSettings): Promise<void> {
  if (!hasRegistration(tenant)) throw new NotFound('page')
  await consumeLimit('registerClient', ctx.tenant, ctx.ip)
}

/**
 * The bearer token of a call (RFC 6750, section 2.1). Throws OAuthError with a challenge when there is none.
 */
export function requireBearerToken(tenant: string, authorization: string | null): string {
  const presented = parseAuthorization(authorization ?? '')
  if (presented?.scheme === 'Bearer') return presented.token
  throw new OAuthError('invalid_token', 'A token is required.', {
    status: 401,
    headers: { 'www-authenticate': `Bearer realm="${issuerOf(tenant)}"` },
  })
}

/** The error of an invalid token, the same for every reason. */
export const createInvalidTokenError = (tenant: string): OAuthError =>
  new OAuthError('invalid_token', 'The token is wrong, expired or used up.', {
    status: 401,
    headers: { 'www-authenticate': `Bearer realm="${issuerOf(tenant)}", error="invalid_token"` },
  })

/** Throws OAuthError that lists all issues of the metadata (RFC 7591, section 3.2.2). */
export function assertNoIssues(issues: FieldIssue[]): void {
  if (issues.length === 0) return
  const isAboutRedirects = issues.every(({ field }) => /^redirect_uris(\.|$)/.test(field))
  const words = issues.map(({ field, description }) => `${field || 'The body'} ${description}`)
  throw new OAuthError(
    isAboutRedirects ? 'invalid_redirect_uri' : 'invalid_client_metadata',
    `${words.join('; ')}.`,
  )
}

/**
 * The client information response (RFC 7591, section 3.2.1; RFC 7592, section 3). A secret is included only
 * when it is new, because stored secrets are hashed.
 */
export const toClientInformation = (
  client: Client,
  hasClientSecret: boolean,
  issued: { token: string; secret?: string | null },
) => ({
  ...toClientMetadata(client, getAuthMethod(client, hasClientSecret)),
  ...(issued.secret && { client_secret: issued.secret, client_secret_expires_at: 0 }),
  registration_access_token: issued.token,
  registration_client_uri: `${buildRegistrationEndpoint(client.tenantId)}/${client.id}`,
})
