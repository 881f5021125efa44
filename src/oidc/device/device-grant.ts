import { randomToken, sha256 } from '../../crypto.ts'
import { sql } from '../../db.ts'
import { OAuthError, type Why } from '../../errors.ts'
import { toEventRow, wakeReaders } from '../../events.ts'
import { grantTerms } from '../token/codes.ts'
import { answerNewGrant } from '../token/new-grant.ts'
import { checkResources } from '../token/token-resources.ts'
import { required, type TokenRequest, type TokenResponse } from '../token/token-response.ts'
import { type Poll, pollDeviceCode } from './device-codes.sql.ts'

/** Networks are not punctual: a poll may come this much before its time. The interval grows as RFC 8628, section 3.5 says. */
const PATIENCE = { leewaySeconds: 1, slowDownSeconds: 5 }

const invalidCode = (why: Why): OAuthError =>
  new OAuthError('invalid_grant', 'The device_code is invalid, or was used before.', { why })

/** What a poll that made no grant is told (RFC 8628, section 3.5). */
function refusalOf(poll: Poll | null): OAuthError {
  if (!poll) return invalidCode({ reason: 'this client has no such device_code, or its person was locked' })
  if (poll.status === 'used') return invalidCode({ reason: 'it was used before' })
  if (poll.status === 'denied') return new OAuthError('access_denied', 'The person refused.')
  if (poll.isExpired)
    return new OAuthError('expired_token', 'The device_code has expired. Ask for a new one.')
  if (poll.status === 'approved')
    return invalidCode({ reason: 'the session of whoever approved it has ended, or another poll was faster' })
  return poll.isEarly
    ? new OAuthError(
        'slow_down',
        `Too early. Wait ${PATIENCE.slowDownSeconds} seconds longer between polls from now on.`,
      )
    : new OAuthError('authorization_pending', 'The person has not decided yet.')
}

/**
 * device_code (RFC 8628, section 3.4): one statement, whether it is pending or makes the grant. Throws OAuthError, of which
 * authorization_pending and slow_down tell the device to go on.
 */
export async function redeemDeviceCode(request: TokenRequest): Promise<TokenResponse> {
  const { ctx, client, form, dpopJkt } = request
  const codeHash = sha256(required(form, 'device_code'))
  await checkResources(request, { from: 'DeviceCode', codeHash })
  const secret = randomToken()
  const poll = await pollDeviceCode(
    sql,
    ctx.tenant,
    { codeHash, clientId: client.id },
    PATIENCE,
    grantTerms(client, dpopJkt, secret, new Date()),
    toEventRow(ctx, { type: 'grant.created' }),
  )
  if (!poll?.grant) throw refusalOf(poll)
  wakeReaders(ctx.tenant)
  return answerNewGrant(request, poll.grant, secret)
}
