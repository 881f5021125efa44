import { cleanTypedEmail } from '../../../core/typed-text.ts'
import type { SignInProvider } from '../../../idps/sign-in-providers.ts'
import { toEmailKey } from '../../../schema/address-keys.ts'
import { listOfferedProviders } from '../step/offered-methods.ts'
import type { SignInStep } from '../step/sign-in-step.ts'

/** A sign-in leaves without a choice of the user once: a user who comes back can choose another method. */
const canLead = ({ interaction: { progress } }: SignInStep): boolean =>
  !progress.isLed && !progress.isAnother && !progress.pendingLink && !progress.refusal

/**
 * The provider to which the first page leads without being shown: the one that the client named (`idp`), or the
 * only one if there is no other method. Null where the page is shown.
 */
export function findAutomaticProvider(signIn: SignInStep, isOnlyMethod: boolean): SignInProvider | null {
  if (!canLead(signIn) || signIn.interaction.progress.address) return null
  const providers = listOfferedProviders(signIn)
  const { idp } = signIn.interaction.request
  const isAlone = isOnlyMethod && providers.length === 1
  return providers.find(({ id }) => id === idp) ?? (isAlone ? (providers[0] ?? null) : null)
}

/** The provider of the domain of an entered address; null for other addresses, and after a first attempt. */
export function findProviderByAddress(signIn: SignInStep, address: string): SignInProvider | null {
  const domain = canLead(signIn) ? toEmailKey(cleanTypedEmail(address))?.split('@').pop() : undefined
  const providers = listOfferedProviders(signIn)
  return providers.find(({ domains }) => domain !== undefined && domains.includes(domain)) ?? null
}
