import type { CachedClient } from '../../access/client-cache.ts'
import type { CachedTenant } from '../../access/tenant-cache.ts'
import type { Ctx } from '../../context/context.ts'
import { OAuthError } from '../../core/oauth-error.ts'

/** A successful token response (RFC 6749, section 5.1; OIDC Core, section 3.1.3.3). */
export type TokenResponse = {
  access_token: string
  token_type: 'Bearer' | 'DPoP'
  expires_in: number
  scope?: string
  id_token?: string
  refresh_token?: string
  /** With scope `session`: the token of a session of the client, which ends with the browser session. */
  session_token?: string
}

/** A token request whose client is authenticated. */
export type TokenRequest = {
  ctx: Ctx
  tenant: CachedTenant
  client: CachedClient
  form: Record<string, string>
  /** The values of the `resource` parameters (RFC 8707). */
  resources: string[]
  /** Thumbprint of the key of the verified DPoP proof (RFC 9449); null without a proof. */
  dpopJkt: string | null
}

/**
 * The value of a required parameter. Throws OAuthError invalid_request when it is missing or contains U+0000.
 */
export function requireParameter(form: Record<string, string>, name: string): string {
  const value = form[name]
  if (!value) throw new OAuthError('invalid_request', `${name} is missing.`)
  // PostgreSQL cannot store U+0000.
  if (value.includes('\u0000')) throw new OAuthError('invalid_request', `${name} contains U+0000.`)
  return value
}
