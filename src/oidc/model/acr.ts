/** The `acr` of every sign-in (OIDC Core, section 2): a passcode is the only sign-in method. */
export const ACR_OTP = 'urn:vestibule:otp'
