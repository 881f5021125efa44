/** The methods by which users sign in on the hosted pages, in the order of the first page. */
export const SIGN_IN_METHODS = ['passcode', 'passkey', 'provider'] as const
export type SignInMethodName = (typeof SIGN_IN_METHODS)[number]

/** How a message with a code is sent. */
export const CHANNELS = ['email', 'sms'] as const
export type Channel = (typeof CHANNELS)[number]
