import { newId, randomToken, sha256 } from '../../crypto.ts'
import { ACCOUNT_SCOPE } from '../../ctx.ts'
import { sql } from '../../db.ts'
import { OAuthError } from '../../errors.ts'
import { after } from '../../time.ts'
import { issuerOf } from '../keys/keys.ts'
import { requestableScopes, toScopes } from '../scopes.ts'
import { requireAllowed } from '../token/asked-resources.ts'
import { allowedResources } from '../token/audience.ts'
import type { TokenRequest } from '../token/token-response.ts'
import { mayUseDevices } from './device-clients.ts'
import { insertDeviceCode } from './device-codes.sql.ts'
import { newUserCode, shownUserCode, userCodeHashOf } from './device-user-codes.ts'

/** Time enough to fetch a telephone and to sign in there; no longer, since somebody else may have sent the code. */
const DEVICE_CODE_LIFETIME_SECONDS = 600
/** What RFC 8628, section 3.2 takes for granted. */
const POLL_INTERVAL_SECONDS = 5
/** Of 20^8 codes one is taken so seldom that a second time in a row means something else is wrong. */
const MAX_TRIES = 5

/** The device authorization response (RFC 8628, section 3.2). */
export type DeviceAuthorization = {
  device_code: string
  user_code: string
  verification_uri: string
  verification_uri_complete: string
  expires_in: number
  interval: number
}

/** Where people enter the code that a device shows. */
const verificationUriOf = (tenant: string): string => `${issuerOf(tenant)}/device`

/**
 * Lets a device ask for a person's permission (RFC 8628, section 3.1): one statement. Throws OAuthError unauthorized_client,
 * invalid_scope when nothing that is asked can be given, and invalid_target. Management scopes are cut to the person's
 * roles when it is known who that is. `makeUserCode` is called again when another device shows the same.
 */
export async function startDeviceAuthorization(
  { ctx, tenant, client, form, resources }: TokenRequest,
  makeUserCode = newUserCode,
  now = new Date(),
): Promise<DeviceAuthorization> {
  if (!mayUseDevices(client))
    throw new OAuthError('unauthorized_client', 'The client may not connect devices.', {
      why: { app_type: client.appType },
    })
  // Who is talked into entering a code must not lose the account by it.
  const scopes = requestableScopes(toScopes(form.scope ?? ''), client).filter(
    (scope) => scope !== ACCOUNT_SCOPE,
  )
  if (scopes.length === 0)
    throw new OAuthError('invalid_scope', 'The scope names nothing that this client may ask for.', {
      why: { scope: form.scope ?? null },
    })
  requireAllowed(resources, await allowedResources(tenant, resources))
  const deviceCode = randomToken()
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const userCode = makeUserCode()
    const isInserted = await insertDeviceCode(sql, ctx.tenant, {
      codeHash: sha256(deviceCode),
      userCodeHash: userCodeHashOf(ctx.tenant, userCode),
      grantId: newId('grant'),
      clientId: client.id,
      scopes,
      resources,
      intervalSeconds: POLL_INTERVAL_SECONDS,
      expiresAt: after(now, DEVICE_CODE_LIFETIME_SECONDS),
      now,
    })
    if (isInserted) return toAuthorization(ctx.tenant, deviceCode, shownUserCode(userCode))
  }
  throw new Error('no user code is free')
}

const toAuthorization = (tenant: string, deviceCode: string, userCode: string): DeviceAuthorization => ({
  device_code: deviceCode,
  user_code: userCode,
  verification_uri: verificationUriOf(tenant),
  verification_uri_complete: `${verificationUriOf(tenant)}?user_code=${userCode}`,
  expires_in: DEVICE_CODE_LIFETIME_SECONDS,
  interval: POLL_INTERVAL_SECONDS,
})
