import type { Ctx } from '../../../context/context.ts'
import { seal, unseal } from '../../../core/crypto.ts'
import { hashHandle, type Interaction, saveInteraction } from '../../interactions/interactions.ts'

const toPurpose = (tenant: string, interaction: Interaction): string =>
  ['recovery-codes', tenant, hashHandle(interaction).toString('base64url')].join(':')

/** The codes as the interaction keeps them, sealed, until the user has saved them. */
export const sealRecoveryCodes = (tenant: string, interaction: Interaction, codes: string[]): string =>
  seal(toPurpose(tenant, interaction), JSON.stringify(codes))

/** The codes that the user is to save; null when there are none. */
export function readRecoveryCodes(tenant: string, interaction: Interaction): string[] | null {
  const { recoveryCodes } = interaction.progress
  if (recoveryCodes === undefined) return null
  return JSON.parse(unseal(toPurpose(tenant, interaction), recoveryCodes).toString()) as string[]
}

/** Forgets the codes: the user has saved them. */
export function forgetRecoveryCodes(ctx: Ctx, interaction: Interaction): Promise<boolean> {
  const { recoveryCodes: _, ...progress } = interaction.progress
  return saveInteraction(ctx.db, { ...interaction, progress })
}
