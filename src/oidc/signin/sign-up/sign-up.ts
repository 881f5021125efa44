import type { Tx } from '../../../database/handle.ts'
import type { PasscodeAddress } from '../../../passcodes/passcodes.fields.ts'
import { type ProvenOwner, proveAddress, type SignedInUser } from '../../../passcodes/passcodes.ts'
import { enterAsOwner } from '../../../passcodes/proven-address.ts'
import type { TermsConsent } from '../../../sign-up/terms-consent.ts'
import { requireAccountStorage } from '../../../users/account-budget.ts'
import { lockProgress, saveProvenProgress } from '../../interactions/interactions.sql.ts'
import { hashBinding, hashProvenBinding } from '../../interactions/interactions.ts'
import type { Progress } from '../../interactions/progress.ts'
import {
  applySignIn,
  createSecondFactorRule,
  toFirstProofProgress,
  toSignedInProgress,
} from '../step/sign-in.ts'
import type { EnteredAccount, SignInStep } from '../step/sign-in-step.ts'

/** A proven address, and what the person entered. */
type NewAccount = {
  address: PasscodeAddress
  fields: Record<string, unknown>
  terms: TermsConsent
}

/**
 * Creates the user of an address that was proven in this interaction, and starts a session; signs in the user
 * who has got the address in the meantime. The interaction is locked and bound anew, so that of two forms one
 * creates the user. Returns the account, none when a second factor follows; null when the interaction has ended, or was
 * bound anew. Throws InvalidInput, RateLimited and UserLocked.
 */
export async function createAccount(
  signIn: SignInStep,
  { address, fields, terms }: NewAccount,
): Promise<{ entered: EnteredAccount | null } | null> {
  const now = new Date()
  const { interaction } = signIn
  const { ctx } = signIn.call
  const { accounts } = signIn.authorization
  const { clientId } = interaction.request
  await requireAccountStorage(ctx)
  const needsSecondFactor = createSecondFactorRule(signIn)
  let progress: Progress = {}
  const begin = async (tx: Tx) => {
    progress = (await lockProgress(tx, hashBinding(interaction), now)) ?? {}
    return progress.provenAddress?.key === address.key
  }
  const person = { address, fields, columns: terms ?? {}, origin: { origin: 'sign-up' } as const, clientId }
  const signedIn = await enterAsOwner<SignedInUser | ProvenOwner>(
    ctx,
    person,
    begin,
    async (tx, userCtx, user) => {
      const owner = { user, channel: address.channel, present: accounts, needsSecondFactor }
      const proven = await proveAddress(tx, userCtx, owner, now)
      const saved =
        proven.token === null
          ? toFirstProofProgress(progress, proven)
          : toSignedInProgress(progress, proven.session)
      await saveProvenProgress(tx, { ...hashProvenBinding(interaction), progress: saved })
      return proven
    },
    now,
  )
  if (!signedIn) return null
  const { userId, token } = signedIn
  if (token === null) return { entered: null }
  await applySignIn(ctx, interaction, signedIn, accounts)
  return { entered: { userId, token } }
}
