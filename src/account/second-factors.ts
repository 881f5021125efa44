import type { Ctx } from '../context/context.ts'
import { type CredentialRow, getCredential } from '../credentials/credentials.ts'
import { selectAccountLabel } from '../credentials/passkeys/registration.ts'
import { createRecoveryCodes } from '../credentials/second-factors/recovery-codes.ts'
import {
  finishTotpEnrollment,
  startTotpEnrollment,
  type TotpEnrollment,
} from '../credentials/second-factors/totp-enrollment.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { getUser } from '../users/users.ts'
import { ConfirmViewerTotp, CreateViewerRecoveryCodes, CreateViewerTotp } from './account.fields.ts'
import { requireStepUp } from './step-up.ts'

/**
 * Creates a key for the caller's authenticator app. It counts once confirmViewerTotp got a code of the app, in
 * the same session, within 15 minutes. Throws InvalidInput and StepUpRequired.
 */
export async function createViewerTotp(ctx: Ctx, input: unknown): Promise<TotpEnrollment> {
  const now = new Date()
  const { userId, sessionId } = await requireStepUp(ctx, now)
  const { accountName } = parseInput(CreateViewerTotp, input)
  const name = accountName ?? selectAccountLabel(await getUser(ctx, userId))
  await recordEvents(ctx.db, ctx, [
    createEvent('credential.enrollment_created', { userId }, { channel: null, type: 'totp' }),
  ])
  return startTotpEnrollment(ctx, { userId, place: sessionId }, name, now)
}

/**
 * Stores the caller's authenticator app; it replaces an earlier one. Throws InvalidInput, InvalidCredential,
 * UserLocked and StepUpRequired.
 */
export async function confirmViewerTotp(ctx: Ctx, input: unknown): Promise<CredentialRow> {
  const now = new Date()
  const { userId, sessionId } = await requireStepUp(ctx, now)
  const entered = parseInput(ConfirmViewerTotp, input)
  const { credentialId } = await finishTotpEnrollment(ctx, { userId, place: sessionId }, entered, now)
  return getCredential(ctx, credentialId)
}

/**
 * Creates the caller's recovery codes, which are returned once. Throws InvalidInput, Conflict, UserLocked
 * and StepUpRequired.
 */
export async function createViewerRecoveryCodes(
  ctx: Ctx,
  input: unknown,
): Promise<{ credential: CredentialRow; codes: string[] }> {
  const now = new Date()
  const { userId } = await requireStepUp(ctx, now)
  const { replace } = parseInput(CreateViewerRecoveryCodes, input)
  const { credentialId, codes } = await createRecoveryCodes(ctx, userId, { replace: replace === true }, now)
  return { credential: await getCredential(ctx, credentialId), codes }
}
