import type { SignInMethodName } from '../../core/sign-in-methods.ts'

/** The `acr` of a sign-in by passcode (OIDC Core, section 2). */
export const ACR_OTP = 'urn:vestibule:otp'
/** The `acr` of a sign-in by passkey: phishing-resistant (OpenID Connect EAP ACR Values 1.0, section 2). */
export const ACR_PHISHING_RESISTANT = 'phr'

/** The `acr` of a sign-in by each method. */
export const ACR_BY_METHOD: Record<SignInMethodName, string> = {
  passcode: ACR_OTP,
  passkey: ACR_PHISHING_RESISTANT,
}

/** The values that clients of a tenant may request. */
export const listSupportedAcrs = ({ signInMethods }: { signInMethods: readonly string[] }): string[] =>
  signInMethods.map((name) => ACR_BY_METHOD[name as SignInMethodName])

/** The `acr` of a sign-in by its methods (RFC 8176, section 2). */
export const computeAcr = (amr: readonly string[]): string =>
  amr.includes('hwk') || amr.includes('swk') ? ACR_PHISHING_RESISTANT : ACR_OTP
