import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import * as z from 'zod'
import type { Ctx } from '../context/context.ts'
import { toUserCtx } from '../context/context.ts'
import { consumeLimit } from '../coordination/rate-limits.ts'
import { randomToken, sha256 } from '../core/crypto.ts'
import { AppError, Conflict } from '../core/errors.ts'
import { parseInput, requiredText } from '../schema/input-shapes.ts'
import { announceAccountChange } from '../users/deletion/account-notices.ts'
import { lockUserRow } from '../users/lock-user.sql.ts'
import type { Device } from './credentials.fields.ts'
import {
  consumeEnrollmentChallenge,
  selectLiveEnrollment,
  setEnrollmentChallenge,
  useEnrollmentToken,
} from './enrollment.sql.ts'
import { insertPasskey, MAX_PASSKEYS, type NewPasskey } from './passkeys/insert-passkey.ts'
import {
  buildRegistrationOptions,
  createRejectedCredentialError,
  RegistrationResponse,
  selectAccountLabel,
  verifyRegistration,
} from './passkeys/registration.ts'

const EnrollmentStart = z.object({ token: requiredText(200) })
const EnrollmentFinish = EnrollmentStart.extend({ response: RegistrationResponse })
type EnrollmentFinish = z.infer<typeof EnrollmentFinish>

/**
 * One error for a token that is unknown, used, invalidated or expired, or whose user is locked or has another
 * address now.
 */
const createExpiredLinkError = () =>
  new AppError(
    'NOT_FOUND',
    410,
    'This link has expired, was used already, or was replaced by a newer one. Ask for a new link.',
  )

/** Finds the user of a valid enrollment token, or null. Counts against the budget of the network. */
export async function findEnrollment(ctx: Ctx, token: string): Promise<{ label: string } | null> {
  await consumeLimit('enrollCredential', ctx.tenant, ctx.ip)
  const live = await selectLiveEnrollment(ctx.db, sha256(token), new Date())
  return live && { label: selectAccountLabel(live) }
}

/**
 * Options for navigator.credentials.create with a new challenge. Throws InvalidInput, RateLimited, Conflict (the user has
 * too many passkeys) and NOT_FOUND (410).
 */
export async function startEnrollment(
  ctx: Ctx,
  input: unknown,
  now = new Date(),
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { token } = parseInput(EnrollmentStart, input)
  await consumeLimit('enrollCredential', ctx.tenant, ctx.ip)
  const challenge = randomToken()
  const live = await setEnrollmentChallenge(ctx.db, sha256(token), challenge, now)
  if (!live) throw createExpiredLinkError()
  if (live.credentials.length >= MAX_PASSKEYS)
    throw new Conflict([], `The user has ${MAX_PASSKEYS} passkeys. Remove one first.`)
  return buildRegistrationOptions(ctx.tenant, { user: live, challenge, credentials: live.credentials })
}

/** The challenge that a response claims to answer. */
function readChallenge(clientDataJSON: string): string {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as {
      challenge?: unknown
    }
    if (typeof challenge === 'string') return challenge
  } catch (error) {
    throw createRejectedCredentialError(error)
  }
  throw createRejectedCredentialError()
}

/** Reads a registration response and the token of its link. Throws InvalidInput. */
export const readEnrollmentFinish = (input: unknown): EnrollmentFinish => parseInput(EnrollmentFinish, input)

/**
 * Uses a token to store a passkey, in one transaction. Throws NOT_FOUND (410) when the token was used before or has
 * expired, and when its user is locked or has `MAX_PASSKEYS`.
 */
export const redeemEnrollment = (
  ctx: Ctx,
  tokenHash: Buffer,
  made: Omit<NewPasskey, 'byManagement'>,
  now: Date,
): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    // The user first, as for new tokens: the transactions cannot deadlock.
    await lockUserRow(tx, made.userId)
    const used = await useEnrollmentToken(tx, tokenHash, now)
    if (!used || !(await insertPasskey(tx, ctx, { ...made, ...used }, now))) throw createExpiredLinkError()
  })

/**
 * Verifies a registration response (WebAuthn Level 3, section 7.1) and stores the credential; the token is
 * marked as used in the same transaction. A response is valid for the current challenge only, once. Throws
 * InvalidInput, RateLimited, Conflict (the credential is already registered) and NOT_FOUND (410).
 */
export async function finishEnrollment(
  ctx: Ctx,
  { token, response }: EnrollmentFinish,
  device: Device,
): Promise<{ credentialId: string }> {
  const now = new Date()
  const tokenHash = sha256(token)
  const challenge = readChallenge(response.response.clientDataJSON)
  const userId = await consumeEnrollmentChallenge(ctx.db, tokenHash, challenge, now)
  if (!userId)
    throw (await selectLiveEnrollment(ctx.db, tokenHash, now))
      ? createRejectedCredentialError()
      : createExpiredLinkError()
  const passkey = await verifyRegistration(response, challenge)
  const userCtx = toUserCtx(ctx, { userId })
  await redeemEnrollment(userCtx, tokenHash, { passkey, userId, device }, now)
  announceAccountChange(userCtx, userId, 'public-key-added', now)
  return { credentialId: passkey.id }
}
