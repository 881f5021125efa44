import { findClient } from '../access/client-cache.ts'
import { issuerOf } from '../core/issuer.ts'
import { listManagementScopes, ORGANIZATION_SCOPE } from '../core/scopes.ts'
import { CONSOLE_CLIENT_ID } from '../model/console-client.ts'
import { ensureClient } from './ensure-client.ts'

/** The path of the console in a tenant, and the start of its URLs. */
export const getConsoleUrl = (tenant: string): string => `${issuerOf(tenant)}/console`

/**
 * Ensures that the client of the console exists, with the redirect URI of today's issuer: a public client of the tenant
 * itself, to which nobody needs to consent. A user's roles decide what its tokens permit. See docs/decisions/0153.
 */
export async function ensureConsoleClient(tenant: string): Promise<void> {
  const url = getConsoleUrl(tenant)
  const callback = `${url}/callback`
  const scopes = [...listManagementScopes(tenant), ORGANIZATION_SCOPE]
  const known = await findClient(tenant, CONSOLE_CLIENT_ID)
  const initiateLoginUrl = known?.initiateLoginUrl ?? url
  // A later version may have more scopes, and another base URL.
  if (
    known?.callbacks.includes(callback) &&
    known.initiateLoginUrl !== null &&
    scopes.every((scope) => known.scopes.includes(scope))
  )
    return
  await ensureClient(tenant, {
    id: CONSOLE_CLIENT_ID,
    name: known?.name ?? 'Console',
    description: known?.description ?? null,
    requireConsent: known?.requireConsent ?? false,
    appType: 'single-page',
    callbacks: [callback],
    initiateLoginUrl,
    allowedLogoutUrls: [url],
    scopes,
    dpopBoundAccessTokens: true,
    secret: null,
  })
}
