/** How a sign-in is named towards relying parties (OIDC Core, section 2: acr): by a code, the one way there is so far. */
export const ACR_OTP = 'urn:vestibule:otp'
