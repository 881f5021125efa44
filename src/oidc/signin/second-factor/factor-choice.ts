import { Conflict } from '../../../core/errors.ts'
import { selectHasPasskey } from '../../../credentials/passkeys.sql.ts'
import { type Sql, sql } from '../../../database/db.ts'
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
  if (user.hasSecondFactor) return 'code'
  return (await hasUsablePasskey(sql, signIn, user.userId)) ? 'passkey' : 'setup'
}

const hasUsablePasskey = async (sql: Sql, signIn: SignInStep, userId: string): Promise<boolean> =>
  offersMethod(signIn, 'passkey') && (await selectHasPasskey(sql, signIn.call.ctx.tenant, userId))

/** Rejects the setup of a second factor for a user who has a passkey. Throws Conflict. */
export async function requireNoPasskey(sql: Sql, signIn: SignInStep, userId: string): Promise<void> {
  if (await hasUsablePasskey(sql, signIn, userId)) throw new Conflict([], 'Use your passkey.')
}
