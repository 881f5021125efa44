import { ACR_MFA, type SignInMethodName } from '../../core/sign-in-methods.ts'
import { listPossibleAmr, type TrustPolicy } from '../../idps/trusted-authentication.ts'
import { type ClaimRequest, listRequestedValues } from '../../users/claim-request.ts'

/** The `acr` of a sign-in at an identity provider whose methods are not trusted. */
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
  idps,
}: {
  signInMethods: readonly string[]
  secondFactor: string
  idps: readonly TrustPolicy[]
}): string[] => {
  const providers = signInMethods.includes('provider') ? idps : []
  const strongest = Math.max(
    ...signInMethods.map((name) => getStrength(ACR_BY_METHOD[name as SignInMethodName])),
    secondFactor === 'off' ? 0 : getStrength(ACR_MFA),
    ...providers.map((idp) => getStrength(computeProviderAcr(idp))),
  )
  return (ACRS_BY_STRENGTH as string[])
    .slice(0, strongest + 1)
    .filter((acr) => acr !== ACR_FEDERATED || signInMethods.includes('provider'))
}

/** Methods that prove a key. */
const KEY_METHODS = ['hwk', 'swk', 'pop']

/**
 * The `acr` of a sign-in by its methods (RFC 8176, section 2). Those of an identity provider are recorded only
 * where they are trusted.
 */
export function computeAcr(amr: readonly string[]): string {
  if (KEY_METHODS.some((method) => amr.includes(method))) return ACR_PHISHING_RESISTANT
  if (amr.includes('mfa')) return ACR_MFA
  return amr.includes(AMR_FEDERATED) && !amr.includes('otp') ? ACR_FEDERATED : ACR_OTP
}

/** The strongest `acr` of a sign-in at an identity provider. */
export const computeProviderAcr = (idp: TrustPolicy): string =>
  computeAcr([AMR_FEDERATED, ...listPossibleAmr(idp)])

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
