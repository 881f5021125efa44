import { randomToken, sha256 } from '../../core/crypto.ts'
import type { Diagnostics } from '../../core/oauth-error.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { createEvent } from '../../events/create-event.ts'
import { createEventRow } from '../../events/log.ts'
import { type DevicePoll, pollDeviceCode } from '../device/device-polls.sql.ts'
import type { TokenRequest, TokenResponse } from '../model/token-request.ts'
import { requireParameter } from '../model/token-request.ts'
import { buildGrantTerms } from '../token/authorization-codes.ts'
import { requireGrantedResources } from '../token/granted-resources.ts'
import { selectClaimsReading } from '../token/granted-user.sql.ts'
import { issueNewGrantTokens } from '../token/new-grant.ts'

/**
 * A poll may come one second early, since network delay varies. slow_down increases the interval by five
 * seconds (RFC 8628, section 3.5).
 */
const POLL_TOLERANCE = { leewaySeconds: 1, slowDownSeconds: 5 }

const createInvalidCodeError = (diagnostics: Diagnostics): OAuthError =>
  new OAuthError('invalid_grant', 'The device_code is invalid, or was used before.', { diagnostics })

/** The error of a poll that created no grant (RFC 8628, section 3.5). */
function toPollError(poll: DevicePoll | null): OAuthError {
  if (!poll)
    return createInvalidCodeError({ reason: 'this client has no such device_code, or its user was locked' })
  if (poll.status === 'used') return createInvalidCodeError({ reason: 'it was used before' })
  if (poll.status === 'denied') return new OAuthError('access_denied', 'The user denied the request.')
  if (poll.isExpired)
    return new OAuthError('expired_token', 'The device_code has expired. Request a new one.')
  if (poll.status === 'approved')
    return createInvalidCodeError({
      reason:
        'the session that approved it or the membership in its organization has ended, the sign-in does not satisfy the organization, or another poll redeemed it first',
    })
  return poll.isEarly
    ? new OAuthError(
        'slow_down',
        `Polled too early. Increase the interval by ${POLL_TOLERANCE.slowDownSeconds} seconds.`,
      )
    : new OAuthError('authorization_pending', 'The user has not decided yet.')
}

/**
 * The device_code grant (RFC 8628, section 3.4): one statement, whether the code is pending or creates the
 * grant. Throws OAuthError; authorization_pending and slow_down ask the device to keep polling.
 */
export async function redeemDeviceCode(request: TokenRequest): Promise<TokenResponse> {
  const { ctx, tenant, client, form, dpopJkt } = request
  const codeHash = sha256(requireParameter(form, 'device_code'))
  const apis = await requireGrantedResources(request, { from: 'DeviceCode', codeHash })
  const secret = randomToken()
  const poll = await pollDeviceCode(
    ctx.db,
    {
      codeHash,
      clientId: client.id,
      reading: selectClaimsReading(client),
      apis,
      defaultApi: tenant.defaultAudience,
    },
    POLL_TOLERANCE,
    buildGrantTerms(ctx, client, dpopJkt, secret, new Date()),
    createEventRow(ctx, createEvent('grant.created', null)),
  )
  if (!poll?.grant) throw toPollError(poll)
  return issueNewGrantTokens(request, poll.grant, secret)
}
