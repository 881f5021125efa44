import { open, seal } from '../../crypto.ts'
import { asPerson, type Ctx } from '../../ctx.ts'
import { sql } from '../../db.ts'
import { type NewEvent, toEventRow, wakeReaders } from '../../events.ts'
import { spend } from '../../limits.ts'
import type { Standing } from '../authorize/authorization.ts'
import type { AuthorizeRequest } from '../authorize/authorize.ts'
import type { ResponseTarget } from '../authorize/response-modes.ts'
import { type Interaction, interactionHashOf } from '../signin/interactions.ts'
import {
  approveDevice,
  type DecidedDevice,
  denyDevice,
  selectWaitingDevice,
  type WaitingDevice,
} from './device-codes.sql.ts'
import { readUserCode, shownUserCode, userCodeHashesOf } from './device-user-codes.ts'

/** The device that waits for the answer, instead of a redirect_uri. */
type DeviceTarget = {
  responseMode: 'device'
  clientId: string
  /** The device code's hash in base64url, by which the answer is written. */
  deviceCodeHash: string
  /** What the device shows; sealed, as it is hashed where it is looked up. */
  userCode: string
}

/** What a device asks a person for (RFC 8628): an authorize request in all but where its answer goes. */
export type DeviceRequest = Omit<AuthorizeRequest, keyof ResponseTarget> &
  DeviceTarget & { subjectHint: string | null }

const SEAL = 'user code'

/** The code that the device shows. */
export const userCodeOf = ({ userCode }: DeviceRequest): string => open(SEAL, userCode).toString()

/**
 * The request of the device whose code a person entered; null when no device waits with it, for whatever reason. Throws
 * RateLimited when their network guesses too often: each try counts, before it is looked at.
 */
export async function findDeviceRequest(
  { tenant, ip }: Ctx,
  entered: string,
  now = new Date(),
): Promise<DeviceRequest | null> {
  await spend('enterUserCode', tenant, ip)
  const code = readUserCode(entered)
  const device = code && (await selectWaitingDevice(sql, tenant, userCodeHashesOf(tenant, code), now))
  return device ? toRequest(device, shownUserCode(code)) : null
}

/** Somebody else may have sent the code: whoever enters it is always asked, whatever they agreed to before. */
const toRequest = (device: WaitingDevice, userCode: string): DeviceRequest => ({
  responseMode: 'device',
  clientId: device.clientId,
  deviceCodeHash: device.codeHash.toString('base64url'),
  userCode: seal(SEAL, userCode),
  scopes: device.scopes,
  resources: device.resources,
  prompt: ['consent'],
  nonce: null,
  codeChallenge: null,
  display: 'page',
  maxAgeSeconds: null,
  loginHint: null,
  idTokenHint: null,
  subjectHint: null,
  claims: null,
  dpopJkt: null,
})

const decided = (request: DeviceRequest, interaction: Interaction, now: Date): DecidedDevice => ({
  codeHash: Buffer.from(request.deviceCodeHash, 'base64url'),
  clientId: request.clientId,
  interactionHash: interactionHashOf(interaction),
  now,
})

function eventOf(ctx: Ctx, { state, client }: Standing, event: Pick<NewEvent, 'type' | 'detail'>): object {
  const who = { userId: state?.userId ?? null, sessionId: state?.id ?? null }
  const by = state ? asPerson(ctx, { userId: state.userId, sessionId: state.id, clientId: client.id }) : ctx
  return toEventRow(by, { ...event, ...who, subjectIds: [client.id] })
}

/**
 * Lets the device have what the browser's person would give, ending the interaction. False when the session or the user was
 * ended or locked meanwhile, the code has expired, or the device was decided about before. One statement.
 */
export async function approve(
  ctx: Ctx,
  request: DeviceRequest,
  standing: Standing,
  interaction: Interaction,
  now = new Date(),
): Promise<boolean> {
  const { state, scopes } = standing
  if (!state) return false
  const isDone = await approveDevice(
    sql,
    ctx.tenant,
    decided(request, interaction, now),
    { userId: state.userId, sessionId: state.id, scopes },
    eventOf(ctx, standing, { type: 'device.approved', detail: { scope: scopes.join(' ') } }),
  )
  if (isDone) wakeReaders(ctx.tenant)
  return isDone
}

/** Refuses the device, likewise. */
export async function deny(
  ctx: Ctx,
  request: DeviceRequest,
  standing: Standing,
  interaction: Interaction,
  now = new Date(),
): Promise<boolean> {
  const isDone = await denyDevice(
    sql,
    ctx.tenant,
    decided(request, interaction, now),
    eventOf(ctx, standing, { type: 'device.denied' }),
  )
  if (isDone) wakeReaders(ctx.tenant)
  return isDone
}
