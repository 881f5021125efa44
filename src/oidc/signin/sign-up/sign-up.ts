import type { Ctx } from '../../../core/context.ts'
import type { Sql } from '../../../database/db.ts'
import type { PasscodeAddress } from '../../../passcodes/passcodes.fields.ts'
import { type SignedInUser, signInByAddress } from '../../../passcodes/passcodes.ts'
import { enterAsOwner } from '../../../passcodes/proven-address.ts'
import type { TermsConsent } from '../../../sign-up/terms-consent.ts'
import { requireAccountStorage } from '../../../users/account-budget.ts'
import { hashHandle, type Interaction, type Progress } from '../../interactions/interactions.ts'
import { lockProgress, saveLockedProgress } from '../../interactions/locked-progress.sql.ts'
import { settleSignIn, toSignedInProgress } from '../sign-in.ts'

/** A proven address, and what the person entered. */
export type NewAccount = {
  address: PasscodeAddress
  fields: Record<string, unknown>
  terms: TermsConsent
}

/**
 * Creates the user of an address that was proven in this interaction, and starts a session; signs in the user
 * who has got the address in the meantime. The interaction is locked, so that a repeated form creates one user
 * and continues its session, with a new token. Returns the token; null when the interaction has ended. Throws
 * InvalidInput, RateLimited and UserLocked.
 */
export async function createAccount(
  ctx: Ctx,
  interaction: Interaction,
  { address, fields, terms }: NewAccount,
  previousSessionId: string | null,
  now = new Date(),
): Promise<string | null> {
  const { clientId } = interaction.request
  const handleHash = hashHandle(interaction)
  await requireAccountStorage(ctx)
  let progress: Progress = {}
  const begin = async (sql: Sql) => {
    progress = (await lockProgress(sql, ctx.tenant, handleHash, now)) ?? {}
    return progress.provenAddress?.key === address.key
  }
  const person = { address, fields, columns: terms ?? {}, origin: { origin: 'sign-up' } as const, clientId }
  const signedIn = await enterAsOwner<SignedInUser>(
    ctx,
    person,
    begin,
    async (sql, userCtx, user) => {
      const sessionId = progress.sessionId ?? previousSessionId
      const signedIn = await signInByAddress(sql, userCtx, { user, channel: address.channel, sessionId }, now)
      await saveLockedProgress(sql, ctx.tenant, handleHash, toSignedInProgress(progress, signedIn.session))
      return signedIn
    },
    now,
  )
  if (!signedIn) return null
  await settleSignIn(ctx, interaction, signedIn, previousSessionId)
  return signedIn.token
}
