import {
  ACR_FEDERATED,
  ACR_MFA,
  ACR_OTP,
  ACR_PASSWORD,
  ACR_PHISHING_RESISTANT,
} from '../model/sign-in-methods.ts'

/** The `amr` of a sign-in at an identity provider. RFC 8176 has no value for it; others use this one. */
export const AMR_FEDERATED = 'fed'

/** The `amr` of a sign-in by a password (RFC 8176, section 2). */
export const AMR_PASSWORD = 'pwd'

/** The values of `acr`, weakest first. A session with one of them satisfies the ones before it. */
export const ACRS_BY_STRENGTH: readonly string[] = [
  ACR_FEDERATED,
  ACR_PASSWORD,
  ACR_OTP,
  ACR_MFA,
  ACR_PHISHING_RESISTANT,
]

/** The position of a value among those of this server; -1 for any other. */
export const getStrength = (acr: unknown): number => ACRS_BY_STRENGTH.indexOf(acr as string)

/** Methods that prove a key. */
const KEY_METHODS = ['hwk', 'swk', 'pop']

/**
 * The `acr` of a sign-in by its methods (RFC 8176, section 2). Those of an identity provider are recorded only
 * where they are trusted.
 */
export function computeAcr(amr: readonly string[]): string {
  if (KEY_METHODS.some((method) => amr.includes(method))) return ACR_PHISHING_RESISTANT
  if (amr.includes('mfa')) return ACR_MFA
  if (amr.includes('otp')) return ACR_OTP
  if (amr.includes(AMR_FEDERATED)) return ACR_FEDERATED
  return amr.includes(AMR_PASSWORD) ? ACR_PASSWORD : ACR_OTP
}

/** Whether an `acr` counts as two factors: a phishing-resistant sign-in does too. */
export const isTwoFactorAcr = (acr: string): boolean => getStrength(acr) >= getStrength(ACR_MFA)
