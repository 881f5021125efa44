import { ACR_MFA, type SignInMethodName } from '../../core/sign-in-methods.ts'
import { ACR_BY_METHOD } from '../model/acr.ts'
import { isAcceptableAcr } from '../model/claims-request.ts'
import type { SignInStep } from './sign-in-step.ts'

/**
 * Whether the tenant has a method, and the request accepts its `acr`, or that of two factors, which a second
 * factor leads to.
 */
export function offersMethod(
  { call, interaction, authorization }: SignInStep,
  name: SignInMethodName,
): boolean {
  const { claims } = interaction.request
  return (
    call.tenant.signInMethods.includes(name) &&
    (isAcceptableAcr(claims, ACR_BY_METHOD[name]) ||
      (authorization.secondFactor.isUsable && isAcceptableAcr(claims, ACR_MFA)))
  )
}
