import { findAcceptedPasskeys } from '../../../credentials/passkeys/accepted-passkeys.ts'
import type { AcceptedPasskeys } from '../../../pages/parts/passkey-signal.pages.tsx'
import type { SignInStep } from '../step/sign-in-step.ts'

/**
 * The accepted passkeys, for the browser of a user who has signed in for this request. Null for an earlier
 * session: its user has not just proved who they are. One statement, or none.
 */
export async function findPasskeySignal({
  call,
  interaction,
  authorization,
}: SignInStep): Promise<AcceptedPasskeys | null> {
  const { signInState: state } = authorization
  const hasSignedIn = state !== null && interaction.progress.sessionId === state.id
  return hasSignedIn && call.tenant.signInMethods.includes('passkey')
    ? findAcceptedPasskeys(call.ctx, state.userId)
    : null
}
