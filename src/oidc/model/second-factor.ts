import type { SecondFactorMode } from '../../core/sign-in-methods.ts'
import { ACR_MFA, computeAcr, getStrength } from './acr.ts'
import { type ClaimsRequest, isAcceptableAcr } from './claims-request.ts'

/** Who presents a second factor, by the settings of a tenant. */
export type SecondFactorPolicy = { mode: SecondFactorMode; requiredOfRoles: readonly string[] }

export const selectPolicy = (
  tenant: { secondFactor: string; secondFactorRoles: string[] } | null,
): SecondFactorPolicy => ({
  mode: (tenant?.secondFactor ?? 'off') as SecondFactorMode,
  requiredOfRoles: tenant?.secondFactorRoles ?? [],
})

/** Whether a user may, and must, present a second factor. */
export type SecondFactorTerms = { isUsable: boolean; isRequired: boolean }

/** The terms for a user at a client: the tenant, the client or a role of the user may require two factors. */
export function selectSecondFactorTerms(
  { mode, requiredOfRoles }: SecondFactorPolicy,
  { requireSecondFactor }: { requireSecondFactor: boolean },
  roles: readonly string[],
): SecondFactorTerms {
  const isRequired =
    mode === 'required' || requireSecondFactor || roles.some((role) => requiredOfRoles.includes(role))
  return { isUsable: isRequired || mode !== 'off', isRequired }
}

/**
 * Whether a second factor follows a proof with these methods (RFC 8176): where two factors are required, by an
 * essential `acr` too, and of every user who has a second factor. A passkey is two factors by itself.
 */
export function needsSecondFactor(
  { isUsable, isRequired }: SecondFactorTerms,
  claims: ClaimsRequest | null,
  amr: readonly string[],
  hasSecondFactor: boolean,
): boolean {
  const acr = computeAcr(amr)
  if (!isUsable || getStrength(acr) >= getStrength(ACR_MFA)) return false
  return isRequired || hasSecondFactor || !isAcceptableAcr(claims, acr)
}
