/** The `acr` of a sign-in at an identity provider whose methods are not trusted. */
export const ACR_FEDERATED = 'urn:vestibule:federated'
/** The `acr` of a sign-in by the password of the system that the tenant moves from. */
export const ACR_PASSWORD = 'urn:vestibule:pwd'
/** The `acr` of a sign-in by one factor, such as a code (OIDC Core, section 2). */
export const ACR_OTP = 'urn:vestibule:otp'
/** The `acr` of a sign-in by two factors, such as a code and an authenticator app (OIDC Core, section 2). */
export const ACR_MFA = 'urn:vestibule:mfa'
/** The `acr` of a sign-in by passkey: phishing-resistant (OpenID Connect EAP ACR Values 1.0, section 2). */
export const ACR_PHISHING_RESISTANT = 'phr'

/** The methods by which users sign in on the hosted pages, in the order of the first page, with their `acr`. See docs/decisions/0070. */
const METHODS = {
  passcode: { acr: ACR_OTP, description: 'A code that is sent to an e-mail address or a phone number.' },
  passkey: { acr: ACR_PHISHING_RESISTANT, description: 'A passkey, which the user unlocks on the device.' },
  provider: {
    acr: ACR_FEDERATED,
    description: 'An identity provider of the tenant, at which the user signs in.',
  },
  password: {
    acr: ACR_PASSWORD,
    description: 'The password of the system that the user was imported from, once.',
  },
} as const
export type SignInMethodName = keyof typeof METHODS

/** The names of the methods in the order of the first page. */
export const SIGN_IN_METHODS = Object.keys(METHODS) as [SignInMethodName, ...SignInMethodName[]]

/** The methods that a tenant chooses. The password follows from its `migrationEndsAt`. */
export type ChosenMethodName = Exclude<SignInMethodName, 'password'>
export const CHOSEN_METHODS = SIGN_IN_METHODS.filter((name): name is ChosenMethodName => name !== 'password')

/** The `acr` of a sign-in by a method. */
export const getMethodAcr = (name: SignInMethodName): string => METHODS[name].acr

/** The description of each method in the API. */
export const METHOD_DESCRIPTIONS = Object.fromEntries(
  SIGN_IN_METHODS.map((name) => [name, METHODS[name].description]),
) as Record<SignInMethodName, string>

/** What a user presents after one of these methods: a code of an authenticator app, or a recovery code. */
export const SECOND_FACTORS = ['totp', 'recovery'] as const
export type SecondFactorName = (typeof SECOND_FACTORS)[number]

/** The description of each second factor in the API. */
export const SECOND_FACTOR_DESCRIPTIONS: Record<SecondFactorName, string> = {
  totp: 'A code of an authenticator app.',
  recovery: 'A recovery code.',
}

/** Who presents a second factor: nobody, users who have one, or all users. */
export const SECOND_FACTOR_MODES = ['off', 'if-enrolled', 'required'] as const
export type SecondFactorMode = (typeof SECOND_FACTOR_MODES)[number]

/** How a message with a code is sent. */
export const CHANNELS = ['email', 'sms'] as const
export type Channel = (typeof CHANNELS)[number]
