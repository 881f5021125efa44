import { Conflict } from '../../../core/errors.ts'
import { listCredentialTypes } from '../../../credentials/second-factors/second-factors.ts'
import type { Db } from '../../../database/handle.ts'
import { offersMethod } from '../step/offered-methods.ts'
import type { SignInStep } from '../step/sign-in-step.ts'
import type { SecondFactorUser } from './second-factor-sign-in.ts'

/** What a user does at this step: enters a code, uses a passkey, or sets up a second factor. */
export type FactorTask = 'code' | 'passkey' | 'setup'

/**
 * The task of a user. A user who has a passkey presents it: a first proof alone does not suffice to set up another
 * factor. One statement for users without an authenticator app.
 */
export async function selectFactorTask(signIn: SignInStep, { user }: SecondFactorUser): Promise<FactorTask> {
  return user.hasSecondFactor ? 'code' : findFactorTask(signIn.call.ctx.db, signIn, user.userId)
}

async function findFactorTask(tx: Db, signIn: SignInStep, userId: string): Promise<FactorTask> {
  const types = await listCredentialTypes(tx, userId)
  if (types.includes('totp')) return 'code'
  return types.includes('public-key') && offersMethod(signIn, 'passkey') ? 'passkey' : 'setup'
}

/** Rejects the setup of a factor for a user who has one by now. Lock the user first. Throws Conflict. */
export async function requireSetup(tx: Db, signIn: SignInStep, userId: string): Promise<void> {
  if ((await findFactorTask(tx, signIn, userId)) !== 'setup')
    throw new Conflict([], 'There is a second factor already.')
}
