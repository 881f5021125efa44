import { toUserCtx } from '../../../context/context.ts'
import { computeMac } from '../../../core/crypto.ts'
import { UserLocked } from '../../../core/errors.ts'
import { insertPasskey } from '../../../credentials/passkeys/insert-passkey.ts'
import { selectPasskeyAmr } from '../../../credentials/passkeys/passkeys.ts'
import { parseRegistration, verifyRegistration } from '../../../credentials/passkeys/registration.ts'
import { announceAccountChange } from '../../../users/deletion/account-notices.ts'
import { lockUserRow } from '../../../users/lock-user.sql.ts'
import type { Interaction } from '../../interactions/interactions.ts'
import type { CreatedPasskey } from '../passkey/passkey-offer.ts'
import type { EnteredAccount, SignInStep } from '../step/sign-in-step.ts'
import {
  enterWithSecondFactor,
  recordSecondProof,
  requireSetup,
  type SecondFactorUser,
} from './second-factor-sign-in.ts'

/** The challenge of the setup: a MAC over the secrets of the interaction and the user. It takes no row. */
export const deriveSetupChallenge = (
  tenant: string,
  { handle, key }: Interaction,
  { user }: SecondFactorUser,
): string => computeMac('passkey-setup', [tenant, handle, key, user.userId].join('\n')).toString('base64url')

/**
 * Stores the passkey that the browser created for a user who has no second factor, and signs in by it: the user was
 * verified when it was created. Returns the account with the token of its session, always a new one. Throws InvalidInput, Conflict when
 * the passkey is registered or the user has a second factor by now, and UserLocked.
 */
export async function signInByNewPasskey(
  signIn: SignInStep,
  found: SecondFactorUser,
  { registration, device }: CreatedPasskey,
): Promise<EnteredAccount> {
  const now = new Date()
  const { interaction, authorization } = signIn
  const { ctx } = signIn.call
  const { user, first } = found
  const { userId } = user
  const passkey = await verifyRegistration(
    parseRegistration(registration),
    deriveSetupChallenge(ctx.tenant, interaction, found),
  )
  const userCtx = toUserCtx(ctx, { userId, clientId: interaction.request.clientId })
  const { accounts } = authorization
  const entered = await ctx.db.transaction(async (tx) => {
    const current = await lockUserRow(tx, userId)
    await requireSetup(tx, signIn, userId)
    const made = { passkey, userId, device, byManagement: false }
    if (current?.locked !== false || !(await insertPasskey(tx, userCtx, made, now))) throw new UserLocked()
    const proof = { method: 'passkey' as const, amr: selectPasskeyAmr(passkey.backupEligible) }
    return enterWithSecondFactor(tx, userCtx, found, { present: accounts, proof }, now)
  })
  announceAccountChange(userCtx, userId, 'public-key-added', now)
  await recordSecondProof(ctx, interaction, { userId, ...entered, first }, accounts)
  return { userId, token: entered.token }
}
