import type { Ctx } from '../context/context.ts'
import { sha256Base64url } from '../core/crypto.ts'
import type { ParsedMetadata } from './sessions.fields.ts'

/**
 * The id of the device of a device token: a hash, which is the same wherever applications of the tenant give the token.
 * Null without a token.
 */
export const toDeviceId = (tenant: string, token: string | null): string | null =>
  token ? sha256Base64url(JSON.stringify([tenant, 'device-token', token])) : null

/** The call of a backend, whose events name the device of its user. */
export const withDevice = (ctx: Ctx, { deviceToken }: ParsedMetadata): Ctx =>
  deviceToken ? { ...ctx, deviceId: toDeviceId(ctx.tenant, deviceToken) } : ctx
