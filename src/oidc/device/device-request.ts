import { findClient } from '../../access/client-cache.ts'
import type { Ctx } from '../../context/context.ts'
import { toUserCtx } from '../../context/context.ts'
import { takeGrant } from '../../coordination/person-budgets.ts'
import { consumeLimit } from '../../coordination/rate-limits.ts'
import { seal, unseal } from '../../core/crypto.ts'
import { type About, createEvent, type NewEvent } from '../../events/create-event.ts'
import { createEventRow } from '../../events/log.ts'
import type { AuthorizationState } from '../authorize/evaluate-request.ts'
import type { Interaction } from '../interactions/interactions.ts'
import { hashHandle } from '../interactions/interactions.ts'
import { type DeviceRequest, EMPTY_REQUEST, type OrganizationDemand } from '../model/authorize-request.ts'
import { toOrganizationDemand } from '../model/requested-organization.ts'
import {
  approveDevice,
  type DecidedDevice,
  denyDevice,
  type PendingDevice,
  selectPendingDevice,
} from './device-codes.sql.ts'
import { formatUserCode, hashUserCodeWithAllKeys, parseUserCode } from './user-codes.ts'

const USER_CODE_PURPOSE = 'user code'

/** The code that the device shows. */
export const unsealUserCode = ({ userCode }: DeviceRequest): string =>
  unseal(USER_CODE_PURPOSE, userCode).toString()

/**
 * The request of the device whose user code was entered; null when there is no pending one. Throws
 * RateLimited when a network guesses too often: each attempt counts, before the code is looked up.
 */
export async function findDeviceRequest(
  { tenant, ip, db }: Ctx,
  entered: string,
): Promise<DeviceRequest | null> {
  await consumeLimit('enterUserCode', tenant, ip)
  const code = parseUserCode(entered)
  const device = code && (await selectPendingDevice(db, hashUserCodeWithAllKeys(tenant, code), new Date()))
  if (!device) return null
  const mode = (await findClient(tenant, device.clientId))?.organization ?? 'none'
  return toDeviceRequest(device, formatUserCode(code), toOrganizationDemand(device.organization, mode))
}

/** Consent is always requested, even if it was granted before: an attacker may have sent the user code. */
const toDeviceRequest = (
  device: PendingDevice,
  userCode: string,
  organization: OrganizationDemand | null,
): DeviceRequest => ({
  ...EMPTY_REQUEST,
  responseMode: 'device',
  clientId: device.clientId,
  deviceCodeHash: device.codeHash.toString('base64url'),
  userCode: seal(USER_CODE_PURPOSE, userCode),
  scopes: device.scopes,
  resources: device.resources,
  organization,
  prompt: ['consent'],
})

const toDecidedDevice = (request: DeviceRequest, interaction: Interaction, now: Date): DecidedDevice => ({
  codeHash: Buffer.from(request.deviceCodeHash, 'base64url'),
  clientId: request.clientId,
  interactionHash: hashHandle(interaction),
  now,
})

/** The event of a decision, by the signed-in user. */
function toDecisionEvent(
  ctx: Ctx,
  { signInState: state, client }: AuthorizationState,
  toEvent: (device: About<'device.approved' | 'device.denied'>) => NewEvent,
): object {
  const device = { userId: state?.userId ?? null, sessionId: state?.id ?? null, clientId: client.id }
  const userCtx = state
    ? toUserCtx(ctx, { userId: state.userId, sessionId: state.id, clientId: client.id })
    : ctx
  return createEventRow(userCtx, toEvent(device))
}

/**
 * Approves the device for what the signed-in user can grant, ending the interaction. False when the session
 * has ended, the user is locked, the code has expired, or the device was approved or denied before. One
 * statement.
 */
export async function approveDeviceRequest(
  ctx: Ctx,
  request: DeviceRequest,
  authorization: AuthorizationState,
  interaction: Interaction,
): Promise<boolean> {
  const { next, signInState: state, scopes, organization } = authorization
  if (!state || next.step !== 'issue') return false
  takeGrant(ctx.tenant, state.userId, authorization.client.id)
  const { authenticatedAt, amr } = next.authentication
  return approveDevice(
    ctx.db,
    toDecidedDevice(request, interaction, new Date()),
    {
      userId: state.userId,
      sessionId: state.id,
      scopes,
      organizationId: organization?.id ?? null,
      authenticatedAt,
      amr,
    },
    toDecisionEvent(ctx, authorization, (device) =>
      createEvent('device.approved', device, { scope: scopes.join(' ') }),
    ),
  )
}

/** Denies the device, ending the interaction. False as for approveDeviceRequest. One statement. */
export async function denyDeviceRequest(
  ctx: Ctx,
  request: DeviceRequest,
  authorization: AuthorizationState,
  interaction: Interaction,
): Promise<boolean> {
  return denyDevice(
    ctx.db,
    toDecidedDevice(request, interaction, new Date()),
    toDecisionEvent(ctx, authorization, (device) => createEvent('device.denied', device)),
  )
}
