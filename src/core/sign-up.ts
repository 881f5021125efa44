/** Who may create an account on the hosted pages. */
export const SIGN_UP_MODES = ['off', 'open', 'domains', 'invitation'] as const
export type SignUpMode = (typeof SIGN_UP_MODES)[number]
