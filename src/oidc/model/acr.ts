import { ACR_MFA, type SignInMethodName } from '../../core/sign-in-methods.ts'
import { type ClaimRequest, listRequestedValues } from '../../users/claim-request.ts'

/** The `acr` of a sign-in at an identity provider, whatever the provider asked for. */
export const ACR_FEDERATED = 'urn:vestibule:federated'
/** The `acr` of a sign-in by one factor, such as a code (OIDC Core, section 2). */
export const ACR_OTP = 'urn:vestibule:otp'
/** The `acr` of a sign-in by passkey: phishing-resistant (OpenID Connect EAP ACR Values 1.0, section 2). */
export const ACR_PHISHING_RESISTANT = 'phr'

/** The `amr` of a sign-in at an identity provider. RFC 8176 has no value for it; others use this one. */
export const AMR_FEDERATED = 'fed'

/** The values of `acr`, weakest first. A session with one of them satisfies the ones before it. */
const ACRS_BY_STRENGTH: readonly unknown[] = [ACR_FEDERATED, ACR_OTP, ACR_MFA, ACR_PHISHING_RESISTANT]

/** The `acr` of a sign-in by each method. */
export const ACR_BY_METHOD: Record<SignInMethodName, string> = {
  passcode: ACR_OTP,
  passkey: ACR_PHISHING_RESISTANT,
  provider: ACR_FEDERATED,
}

/** The values that clients of a tenant may request. */
export const listSupportedAcrs = ({
  signInMethods,
  secondFactor,
}: {
  signInMethods: readonly string[]
  secondFactor: string
}): string[] => {
  const strongest = Math.max(
    ...signInMethods.map((name) => getStrength(ACR_BY_METHOD[name as SignInMethodName])),
    secondFactor === 'off' ? 0 : getStrength(ACR_MFA),
  )
  return (ACRS_BY_STRENGTH as string[])
    .slice(0, strongest + 1)
    .filter((acr) => acr !== ACR_FEDERATED || signInMethods.includes('provider'))
}

/** The `acr` of a sign-in by its methods (RFC 8176, section 2). */
export function computeAcr(amr: readonly string[]): string {
  const isMultiFactor = amr.includes('mfa')
  // The factors of the provider are its own: they do not count as ours.
  if (amr.includes(AMR_FEDERATED)) return isMultiFactor ? ACR_MFA : ACR_FEDERATED
  if (amr.includes('hwk') || amr.includes('swk')) return ACR_PHISHING_RESISTANT
  return isMultiFactor ? ACR_MFA : ACR_OTP
}

/** The position of a value among those of this server; -1 for any other. */
export const getStrength = (acr: unknown): number => ACRS_BY_STRENGTH.indexOf(acr)

/** Whether a sign-in with this `acr` satisfies the value of a request. */
const satisfiesValue = (acr: string, value: unknown): boolean =>
  ACRS_BY_STRENGTH.includes(value) && getStrength(value) <= getStrength(acr)

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
  return (ACRS_BY_STRENGTH as string[]).findLast((value) => satisfied.includes(value)) ?? acr
}
