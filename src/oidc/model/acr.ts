import { listPossibleAmr, type TrustPolicy } from '../../idps/provider/trusted-authentication.ts'
import {
  ACR_FEDERATED,
  ACR_MFA,
  ACR_PASSWORD,
  getMethodAcr,
  type SignInMethodName,
} from '../../model/sign-in-methods.ts'
import { isMigrating } from '../../old-passwords/old-passwords.ts'
import { ACRS_BY_STRENGTH, AMR_FEDERATED, computeAcr, getStrength } from '../../sessions/acr.ts'
import { type ClaimRequest, listRequestedValues } from '../../users/claim-request.ts'

/** The values that clients of a tenant may request. */
export const listSupportedAcrs = ({
  signInMethods,
  secondFactor,
  idps,
  migrationEndsAt,
}: {
  signInMethods: readonly string[]
  secondFactor: string
  idps: readonly TrustPolicy[]
  migrationEndsAt: Date | null
}): string[] => {
  const providers = signInMethods.includes('provider') ? idps : []
  const strongest = Math.max(
    ...signInMethods.map((name) => getStrength(getMethodAcr(name as SignInMethodName))),
    secondFactor === 'off' ? 0 : getStrength(ACR_MFA),
    ...providers.map((idp) => getStrength(computeProviderAcr(idp))),
  )
  return ACRS_BY_STRENGTH.slice(0, strongest + 1).filter(
    (acr) =>
      (acr !== ACR_FEDERATED || signInMethods.includes('provider')) &&
      (acr !== ACR_PASSWORD || isMigrating({ migrationEndsAt })),
  )
}

/** The strongest `acr` of a sign-in at an identity provider. */
export const computeProviderAcr = (idp: TrustPolicy): string =>
  computeAcr([AMR_FEDERATED, ...listPossibleAmr(idp)])

/** Whether a sign-in with this `acr` satisfies the value of a request. */
const satisfiesValue = (acr: string, value: unknown): boolean =>
  getStrength(value) >= 0 && getStrength(value) <= getStrength(acr)

/** Whether a sign-in with this `acr` satisfies one of the requested values, or none is requested. */
export function satisfiesAcrRequest(request: ClaimRequest, acr: string): boolean {
  const values = listRequestedValues(request)
  return values.length === 0 || values.some((value) => satisfiesValue(acr, value))
}

/**
 * The `acr` claim about a sign-in: of the requested values that it satisfies, the strongest; otherwise its own.
 */
export function selectReportedAcr(request: ClaimRequest, amr: readonly string[]): string {
  const acr = computeAcr(amr)
  const satisfied = listRequestedValues(request).filter((value) => satisfiesValue(acr, value))
  return ACRS_BY_STRENGTH.findLast((value) => satisfied.includes(value)) ?? acr
}
