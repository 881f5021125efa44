import { ACR_MFA } from '../../model/sign-in-methods.ts'
import { computeAcr, isTwoFactorAcr } from '../../sessions/acr.ts'
import { requiresTwoFactors, type SecondFactorPolicy } from '../../tenants/second-factor-policy.ts'
import { type ClaimsRequest, isAcceptableAcr } from './claims-request.ts'

/** Whether a user may, and must, present a second factor. */
export type SecondFactorTerms = { isUsable: boolean; isRequired: boolean }

/** The terms for a user at a client: the tenant, the client or a role of the user may require two factors. */
export function selectSecondFactorTerms(
  policy: SecondFactorPolicy,
  { requireSecondFactor }: { requireSecondFactor: boolean },
  roles: readonly string[],
): SecondFactorTerms {
  const isRequired = requireSecondFactor || requiresTwoFactors(policy, roles)
  return { isUsable: isRequired || policy.mode !== 'off', isRequired }
}

/**
 * Whether a second factor follows a proof with these methods (RFC 8176): where two factors are required, by an
 * essential `acr` that it satisfies too, and of every user who has a second factor. A passkey is two factors by
 * itself.
 */
export function needsSecondFactor(
  { isUsable, isRequired }: SecondFactorTerms,
  claims: ClaimsRequest | null,
  amr: readonly string[],
  hasSecondFactor: boolean,
): boolean {
  const acr = computeAcr(amr)
  if (!isUsable || isTwoFactorAcr(acr)) return false
  return isRequired || hasSecondFactor || (!isAcceptableAcr(claims, acr) && isAcceptableAcr(claims, ACR_MFA))
}
