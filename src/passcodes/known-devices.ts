import type { Ctx } from '../context/context.ts'
import { toDeviceId } from '../sessions/device-tokens.ts'
import type { ParsedMetadata } from '../sessions/sessions.fields.ts'
import { selectKnownDevice } from './known-devices.sql.ts'
import { type PasscodeOrigin, toApiOrigin, toDeviceOrigin } from './passcode-origin.ts'

/** A shorter token may be that of many devices, or be guessed. */
const MIN_TOKEN_CHARACTERS = 16

/** The device by which an address may be known; null without a token that is long enough. See docs/decisions/0130. */
export const selectDevice = (tenant: string, { deviceToken }: ParsedMetadata): string | null =>
  deviceToken && deviceToken.length >= MIN_TOKEN_CHARACTERS ? toDeviceId(tenant, deviceToken) : null

/**
 * Where a caller of the management API requests a code, or enters one. A device in which the address was proven before
 * has codes and a budget of its own, like a known browser; a code that was sent before the device was named is
 * one of the caller's. One statement, with a token only.
 */
export async function findApiOrigin(
  ctx: Ctx,
  address: string,
  metadata: ParsedMetadata,
  { use, now }: { use: 'send' | 'enter'; now: Date },
): Promise<PasscodeOrigin> {
  const shared = toApiOrigin(metadata.ipAddress)
  const deviceId = selectDevice(ctx.tenant, metadata)
  if (deviceId === null) return shared
  const own = toDeviceOrigin(deviceId)
  const { origin } = own
  const known = await selectKnownDevice(ctx.db, { address, deviceId, origin, now })
  return known && (use === 'send' || known.hasCode) ? own : shared
}
