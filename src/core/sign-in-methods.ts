/** The methods by which users sign in on the hosted pages, in the order of the first page. See docs/decisions/0070. */
export const SIGN_IN_METHODS = ['passcode', 'passkey', 'provider'] as const
export type SignInMethodName = (typeof SIGN_IN_METHODS)[number]

/** What a user presents after one of these methods: a code of an authenticator app, or a recovery code. */
export const SECOND_FACTORS = ['totp', 'recovery'] as const
export type SecondFactorName = (typeof SECOND_FACTORS)[number]

/** The `acr` of a sign-in by two factors, such as a code and an authenticator app (OIDC Core, section 2). */
export const ACR_MFA = 'urn:vestibule:mfa'

/** Who presents a second factor: nobody, users who have one, or all users. */
export const SECOND_FACTOR_MODES = ['off', 'if-enrolled', 'required'] as const
export type SecondFactorMode = (typeof SECOND_FACTOR_MODES)[number]

/** How a message with a code is sent. */
export const CHANNELS = ['email', 'sms'] as const
export type Channel = (typeof CHANNELS)[number]
