import { findTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import type { User } from '../generated/prisma/client.ts'
import { endOldPassword } from '../old-passwords/old-passwords.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { withDevice } from '../sessions/device-tokens.ts'
import { announceNewDevice } from '../sessions/new-device-notice.ts'
import type { SessionRow } from '../sessions/sessions.sql.ts'
import { startSession } from '../sessions/sessions.ts'
import { rememberDevice } from './known-devices.sql.ts'
import { findApiOrigin, selectDevice } from './known-devices.ts'
import { limitNetwork, returnProvenCode } from './network-limits.ts'
import { isKnownBrowser } from './passcode-origin.ts'
import { AuthenticatePasscode } from './passcodes.fields.ts'
import { createProof, redeemWithAttempt } from './passcodes.ts'
import { RejectedCode } from './rejected-code.ts'

export type AuthenticatedPasscode = { session: SessionRow | null; sessionToken: string | null; user: User }

/**
 * Authenticates a passcode for a caller of the management API. With sessionExpirationMinutes above 0 it
 * starts a refreshable session. The device of a device token is known from then on; a session in a new one is announced
 * to its user, where the tenant wants it. Throws InvalidInput, RateLimited (by the network of metadata.ipAddress, when
 * given), and RejectedCode, whose message is one for all reasons.
 */
export async function authenticatePasscode(callerCtx: Ctx, input: unknown): Promise<AuthenticatedPasscode> {
  const now = new Date()
  const { to, code, sessionExpirationMinutes, metadata } = parseInput(AuthenticatePasscode, input)
  const { ipAddress, userAgent } = metadata
  const ctx = withDevice(callerCtx, metadata)
  const origin = await findApiOrigin(ctx, to.key, metadata, { use: 'enter', now })
  if (ipAddress && !isKnownBrowser(origin)) await limitNetwork('authenticatePasscode', ctx.tenant, ipAddress)
  const clientId = ctx.actor.kind === 'client' ? ctx.actor.clientId : null
  const deviceId = selectDevice(ctx.tenant, metadata)
  const entered = { address: to, ...origin, clientId }
  let isNewDevice = false
  const authenticated = await redeemWithAttempt(
    ctx,
    entered,
    code,
    now,
    () => ctx,
    async (tx, ctx, user) => {
      if (deviceId !== null)
        isNewDevice = await rememberDevice(tx, {
          address: to.key,
          deviceId,
          userId: user.id,
          now,
        })
      if (sessionExpirationMinutes === 0) return { session: null, sessionToken: null, user }
      const { session, token } = await startSession(
        tx,
        ctx,
        {
          userId: user.id,
          kind: 'api',
          refreshable: true,
          expiresAt: new Date(now.getTime() + sessionExpirationMinutes * 60_000),
          proof: createProof(to.channel),
          // The IP address of the backend is not that of the user.
          seenFrom: { ip: ipAddress, userAgent, deviceId: ctx.deviceId },
        },
        now,
      )
      return { session, sessionToken: token, user }
    },
  )
  // Callers send codes to users only.
  if (!authenticated) throw new RejectedCode('expired')
  await endOldPassword(ctx.db, authenticated.user.id)
  await returnProvenCode(ctx.tenant, ipAddress, { origin, address: to })
  if (isNewDevice && authenticated.session && (await findTenant(ctx.tenant))?.newDeviceNotice)
    announceNewDevice({ ...ctx, ip: ipAddress, userAgent }, authenticated.user.id, now)
  return authenticated
}
