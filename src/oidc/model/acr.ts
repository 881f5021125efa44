/** The `acr` of a sign-in by passcode (OIDC Core, section 2). */
export const ACR_OTP = 'urn:vestibule:otp'
/** The `acr` of a sign-in by passkey: phishing-resistant (OpenID Connect EAP ACR Values 1.0, section 2). */
export const ACR_PHISHING_RESISTANT = 'phr'
/** The values that a client may request, strongest first. */
export const SUPPORTED_ACRS = [ACR_PHISHING_RESISTANT, ACR_OTP]

/** The `acr` of a sign-in by its methods (RFC 8176, section 2). */
export const computeAcr = (amr: readonly string[]): string =>
  amr.includes('hwk') || amr.includes('swk') ? ACR_PHISHING_RESISTANT : ACR_OTP
