/** Why a session ended. */
export const SESSION_END_REASONS = ['logout', 'revoked', 'locked', 'deleted', 'expired'] as const
export type EndReason = (typeof SESSION_END_REASONS)[number]

/**
 * Why a grant was revoked: with its session or user, by a call, or by the replay of its code or a refresh
 * token.
 */
export const GRANT_END_REASONS = [...SESSION_END_REASONS, 'code replayed', 'refresh token replayed'] as const
export type GrantEndReason = (typeof GRANT_END_REASONS)[number]

/** The limit because of which a text message was not sent: see sms-limits.ts. */
export const SMS_REFUSALS = ['country', 'daily', 'prefix'] as const
export type SmsRefusal = (typeof SMS_REFUSALS)[number]

/**
 * Why a sign-in failed: the user is locked; no user has the address or passkey; the address is not verified,
 * and the user has another that is; the code is wrong or expired, or its attempts are used up; the response of
 * the passkey or of the identity provider does not verify, the counter of a passkey of one device went back, or the
 * backup eligibility of the passkey is another than when it was created; at the identity provider, the user canceled, it
 * refused or did not respond, or the configuration here or there is wrong; the text message was not sent because of a
 * limit.
 */
export const SIGN_IN_FAILURES = [
  'locked',
  'unknown',
  'unverified',
  'wrong',
  'expired',
  'exhausted',
  'rejected',
  'cloned',
  'eligibility',
  ...SMS_REFUSALS,
  'canceled',
  'refused',
  'unavailable',
  'misconfigured',
] as const
export type SignInFailure = (typeof SIGN_IN_FAILURES)[number]

/**
 * Why the proofUrl of a tenant gave no answer: there is none, it may not be or was not reached, it redirected, took too long or
 * returned too much, another status than 200, or not the answer to the request; or the request could not be made.
 */
export const PROOF_FAULTS = [
  'unset',
  'refused',
  'redirected',
  'unreachable',
  'slow',
  'too-large',
  'status',
  'answer',
  'internal',
] as const
export type ProofFault = (typeof PROOF_FAULTS)[number]

/** Why a proven identity was not linked. */
export const LINK_FAILURES = ['linked', 'taken', 'deleted', 'changed'] as const
export type LinkFailure = (typeof LINK_FAILURES)[number]
