import type { CachedTenant } from '../../../access/tenant-cache.ts'
import { listSignInProviders, type SignInProvider } from '../../../idps/sign-in-providers.ts'
import {
  ACR_MFA,
  CHOSEN_METHODS,
  getMethodAcr,
  type SignInMethodName,
} from '../../../model/sign-in-methods.ts'
import { isMigrating } from '../../../old-passwords/old-passwords.ts'
import type { AuthorizationState } from '../../authorize/evaluate-request.ts'
import { computeProviderAcr } from '../../model/acr.ts'
import type { PendingRequest } from '../../model/authorize-request.ts'
import { isAcceptableAcr } from '../../model/claims-request.ts'
import { permitsMethod } from '../../model/organization-demands.ts'

/** The parts of a sign-in that decide which methods it offers. */
export type Offering = {
  call: { tenant: Pick<CachedTenant, 'signInMethods' | 'idps' | 'migrationEndsAt'> }
  interaction: { request: Pick<PendingRequest, 'claims'> }
  authorization: Pick<AuthorizationState, 'secondFactor' | 'organization'>
}

/** Whether the request accepts an `acr`, or that of two factors, which a second factor leads to. */
const leadsToAcr = ({ interaction, authorization }: Offering, acr: string): boolean => {
  const { claims } = interaction.request
  return (
    isAcceptableAcr(claims, acr) || (authorization.secondFactor.isUsable && isAcceptableAcr(claims, ACR_MFA))
  )
}

/** Whether a sign-in at the provider leads to an `acr` that the request accepts. */
export const isOfferable = (signIn: Offering, idp: SignInProvider): boolean =>
  permitsMethod(signIn.authorization.organization, 'provider') && leadsToAcr(signIn, computeProviderAcr(idp))

/** The identity providers of the tenant, and those of an organization that permits some methods only, that lead to an `acr` that the request accepts. */
export const listOfferedProviders = (signIn: Offering): SignInProvider[] =>
  [
    ...listSignInProviders(signIn.call.tenant),
    ...listSignInProviders({ idps: signIn.authorization.organization?.idps ?? [] }),
  ].filter((idp) => isOfferable(signIn, idp))

/** Whether the tenant has a method, and it leads to an `acr` that the request accepts. */
export function offersMethod(signIn: Offering, name: SignInMethodName): boolean {
  const { tenant } = signIn.call
  if (!permitsMethod(signIn.authorization.organization, name)) return false
  // A password is entered beside a code.
  const isOn =
    name === 'password'
      ? isMigrating(tenant) && offersMethod(signIn, 'passcode')
      : tenant.signInMethods.includes(name)
  if (!isOn) return false
  return (
    leadsToAcr(signIn, getMethodAcr(name)) || (name === 'provider' && listOfferedProviders(signIn).length > 0)
  )
}

/** Whether the first page offers another method than this one. */
export const offersOtherMethod = (signIn: Offering, than: SignInMethodName): boolean =>
  CHOSEN_METHODS.some(
    (name) =>
      name !== than &&
      offersMethod(signIn, name) &&
      (name !== 'provider' || listOfferedProviders(signIn).length > 0),
  )
