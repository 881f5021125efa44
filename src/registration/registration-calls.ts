import type { Client } from '../clients/clients.ts'
import type { Ctx } from '../ctx.ts'
import { type FieldFault, NotFound, OAuthError } from '../errors.ts'
import { spend } from '../limits.ts'
import { readAuthorization } from '../oidc/client-auth/dpop-binding.ts'
import { issuerOf } from '../oidc/keys/keys.ts'
import type { CachedTenant } from '../tenants/tenant-cache.ts'
import { methodOf, toMetadata } from './registration.fields.ts'

/** Where clients register themselves, and below it, where each is managed by itself. */
export const registrationEndpointOf = (tenant: string): string => `${issuerOf(tenant)}/oidc/register`

/** Counts the call, and throws NotFound where the tenant lets nobody register. */
export async function enter(ctx: Ctx, { dynamicRegistration }: CachedTenant): Promise<void> {
  if (!dynamicRegistration) throw new NotFound('page')
  await spend('registerClient', ctx.tenant, ctx.ip)
}

/** The token of a call (RFC 6750, section 2.1). Throws OAuthError with a challenge when there is none. */
export function bearerIn(tenant: string, authorization: string | null): string {
  const presented = readAuthorization(authorization ?? '')
  if (presented?.scheme === 'Bearer') return presented.token
  throw new OAuthError('invalid_token', 'A token is required.', {
    status: 401,
    headers: { 'www-authenticate': `Bearer realm="${issuerOf(tenant)}"` },
  })
}

/** A token that may not do this: the same for whatever is wrong with it. */
export const wrongToken = (tenant: string): OAuthError =>
  new OAuthError('invalid_token', 'The token is wrong, expired or used up.', {
    status: 401,
    headers: { 'www-authenticate': `Bearer realm="${issuerOf(tenant)}", error="invalid_token"` },
  })

/** Throws OAuthError that names everything that is wrong with the metadata (RFC 7591, section 3.2.2). */
export function requireFaultless(faults: FieldFault[]): void {
  if (faults.length === 0) return
  const isAboutRedirects = faults.every(({ field }) => /^redirect_uris(\.|$)/.test(field))
  const words = faults.map(({ field, description }) => `${field || 'The body'} ${description}`)
  throw new OAuthError(
    isAboutRedirects ? 'invalid_redirect_uri' : 'invalid_client_metadata',
    `${words.join('; ')}.`,
  )
}

/** What a client is told of itself (RFC 7591, section 3.2.1; RFC 7592, section 3). Secrets are kept hashed: only a new one is told. */
export const toInformation = (
  client: Client,
  isKeptSecret: boolean,
  told: { token: string; secret?: string | null },
) => ({
  ...toMetadata(client, methodOf(client, isKeptSecret)),
  ...(told.secret && { client_secret: told.secret, client_secret_expires_at: 0 }),
  registration_access_token: told.token,
  registration_client_uri: `${registrationEndpointOf(client.tenantId)}/${client.id}`,
})
