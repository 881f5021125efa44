import { canUseGrant, DEVICE_CODE_GRANT } from '../../clients/client-grants.ts'
import { newId, randomToken, sha256 } from '../../core/crypto.ts'
import { issuerOf } from '../../core/issuer.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { isUserScope } from '../../core/scopes.ts'
import { addSeconds } from '../../core/time.ts'
import { requireOrganizationName } from '../model/requested-organization.ts'
import { requireAllowedResources } from '../model/requested-resources.ts'
import { parseRequestedScopes } from '../model/scopes.ts'
import type { TokenRequest } from '../model/token-request.ts'
import { listAllowedResources } from '../token/audience.ts'
import { insertDeviceCode } from './device-codes.sql.ts'
import { createUserCode, formatUserCode, hashUserCode } from './user-codes.ts'

/** Enough to fetch a phone and sign in, and short, because an attacker may have sent the user code. */
const DEVICE_CODE_LIFETIME_SECONDS = 600
/** The default of RFC 8628, section 3.2. */
const POLL_INTERVAL_SECONDS = 5
/** With 20^8 possible codes, repeated conflicts indicate another problem. */
const MAX_CODE_ATTEMPTS = 5

/** The device authorization response (RFC 8628, section 3.2). */
export type DeviceAuthorizationResponse = {
  device_code: string
  user_code: string
  verification_uri: string
  verification_uri_complete: string
  expires_in: number
  interval: number
}

/** The page where users enter the user code. */
const buildVerificationUri = (tenant: string): string => `${issuerOf(tenant)}/device`

/**
 * Starts a device authorization (RFC 8628, section 3.1): one statement. Management scopes are limited to the
 * user's roles when the user is known. `makeUserCode` is called again when the code is taken. Throws
 * OAuthError unauthorized_client, invalid_request, invalid_scope when the client may request none of the scopes, and
 * invalid_target.
 */
export async function startDeviceAuthorization(
  { ctx, tenant, client, form, resources: requested }: TokenRequest,
  makeUserCode = createUserCode,
): Promise<DeviceAuthorizationResponse> {
  const now = new Date()
  if (!canUseGrant(client, DEVICE_CODE_GRANT))
    throw new OAuthError('unauthorized_client', 'The client may not use the device grant.', {
      diagnostics: { app_type: client.appType },
    })
  // A user who is tricked into entering a code must lose neither the account nor an organization.
  const permitted = { ...client, scopes: client.scopes.filter((scope) => !isUserScope(scope)) }
  const scopes = parseRequestedScopes(form.scope ?? null, permitted, tenant.defaultScopes)
  const resources = requireAllowedResources(requested, await listAllowedResources(tenant, requested))
  const organization = requireOrganizationName(form.organization ?? null)
  const deviceCode = randomToken()
  for (let tries = 0; tries < MAX_CODE_ATTEMPTS; tries++) {
    const userCode = makeUserCode()
    const isInserted = await insertDeviceCode(ctx.db, {
      codeHash: sha256(deviceCode),
      userCodeHash: hashUserCode(ctx.tenant, userCode),
      grantId: newId('grant'),
      clientId: client.id,
      scopes,
      resources,
      defaultAudience: tenant.defaultAudience,
      organization,
      intervalSeconds: POLL_INTERVAL_SECONDS,
      expiresAt: addSeconds(now, DEVICE_CODE_LIFETIME_SECONDS),
      now,
    })
    if (isInserted) return toDeviceAuthorization(ctx.tenant, deviceCode, formatUserCode(userCode))
  }
  throw new Error('no user code is free')
}

const toDeviceAuthorization = (
  tenant: string,
  deviceCode: string,
  userCode: string,
): DeviceAuthorizationResponse => ({
  device_code: deviceCode,
  user_code: userCode,
  verification_uri: buildVerificationUri(tenant),
  verification_uri_complete: `${buildVerificationUri(tenant)}?user_code=${userCode}`,
  expires_in: DEVICE_CODE_LIFETIME_SECONDS,
  interval: POLL_INTERVAL_SECONDS,
})
