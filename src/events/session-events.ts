import type { ProviderCause } from '../model/provider-causes.ts'
import type { SecondFactorName } from '../model/sign-in-methods.ts'
import type { EndReason, EventDetail, EventOf, SignInFailure, SmsRefusal } from './types.ts'

/** The subjects of an event of a session. */
export type SessionSubject = { id: string; userId: string; clientId: string | null }

const toSubjects = ({ id, userId, clientId }: SessionSubject) => ({
  userId,
  sessionId: id,
  subjectIds: clientId ? [clientId] : [],
})

export const sessionStarted = (
  session: SessionSubject,
  kind: EventDetail<'session.started'>['kind'],
): EventOf<'session.started'> => ({ type: 'session.started', ...toSubjects(session), detail: { kind } })

export const sessionReauthenticated = (session: SessionSubject): EventOf<'session.reauthenticated'> => ({
  type: 'session.reauthenticated',
  ...toSubjects(session),
})

/** The statement that refreshes the session sets the subjects and `rotated`. */
export const sessionRefreshed = (): EventOf<'session.refreshed'> => ({
  type: 'session.refreshed',
  detail: { rotated: false },
})

/** With null, the statement that ends the session sets the subjects: `toSessionEventColumns`. */
export const sessionEnded = (
  session: SessionSubject | null,
  reason: EndReason,
): EventOf<'session.ended'> => ({
  type: 'session.ended',
  ...(session && toSubjects(session)),
  detail: { reason },
})

type Channel = 'email' | 'sms'
/** The purpose of a code other than sign-in. */
type Purpose = NonNullable<EventDetail<'passcode.sent'>['purpose']>

const toPasscodeDetail = (channel: Channel, purpose?: Purpose) => ({ channel, ...(purpose && { purpose }) })

/** `userId` is null for an address that signs up. */
export const passcodeSent = (
  channel: Channel,
  { userId, purpose }: { userId: string | null; purpose?: Purpose },
): EventOf<'passcode.sent'> => ({
  type: 'passcode.sent',
  userId,
  detail: toPasscodeDetail(channel, purpose),
})

/** A wrong code. `userId` is null for an unknown address. */
export const passcodeFailed = (
  channel: Channel,
  { userId, purpose }: { userId: string | null; purpose?: Purpose },
): EventOf<'passcode.failed'> => ({
  type: 'passcode.failed',
  userId,
  detail: toPasscodeDetail(channel, purpose),
})

/** The message could not be sent. Without `userId`, the statement that withdraws the code sets it. */
export const passcodeUndelivered = (
  channel: Channel,
  { userId, purpose }: { userId?: string; purpose?: Purpose } = {},
): EventOf<'passcode.failed'> => ({
  type: 'passcode.failed',
  userId,
  detail: { ...toPasscodeDetail(channel, purpose), reason: 'delivery' },
})

/** The message was not sent, because the new address of a user is another user's. */
export const passcodeWithheld = (
  channel: Channel,
  { userId, purpose }: { userId: string; purpose: Purpose },
): EventOf<'passcode.failed'> => ({
  type: 'passcode.failed',
  userId,
  detail: { ...toPasscodeDetail(channel, purpose), reason: 'taken' },
})

/** The text message was not sent, because of a limit. */
export const passcodeLimited = (
  { userId, purpose }: { userId: string; purpose: Purpose },
  reason: SmsRefusal,
): EventOf<'passcode.failed'> => ({
  type: 'passcode.failed',
  userId,
  detail: { ...toPasscodeDetail('sms', purpose), reason },
})

/**
 * A sign-in with a code that was not accepted, or the request of a code that was not sent. `userId` is null for
 * an unknown address. Of the address, only its hash is recorded.
 */
export const signInFailed = (
  channel: Channel,
  {
    userId = null,
    clientId,
    addressHash,
    reason,
  }: {
    userId?: string | null
    clientId: string | null
    addressHash: Buffer
    reason: SignInFailure
  },
): EventOf<'signin.failed'> => ({
  type: 'signin.failed',
  userId,
  subjectIds: clientId ? [clientId] : [],
  detail: { method: 'passcode', channel, reason },
  addressHash,
})

/** A sign-in with a passkey that was not accepted. `userId` is null for an unknown passkey. */
export const passkeyFailed = (
  userId: string | null,
  { clientId, reason }: { clientId: string; reason: SignInFailure },
): EventOf<'signin.failed'> => ({
  type: 'signin.failed',
  userId,
  subjectIds: [clientId],
  detail: { method: 'passkey', reason },
})

/** A second factor that was not accepted after a first proof. */
export const secondFactorFailed = (
  userId: string,
  { clientId, method, reason }: { clientId: string; method: SecondFactorName; reason: SignInFailure },
): EventOf<'signin.failed'> => ({
  type: 'signin.failed',
  userId,
  subjectIds: [clientId],
  detail: { method, reason },
})

/**
 * A sign-in at an identity provider that was not accepted. `error` is the error code of the provider; `explanation` has
 * the cause and what was found.
 */
export const providerFailed = (
  userId: string | null,
  {
    clientId,
    idpId,
    reason,
    error,
    explanation,
  }: {
    clientId: string
    idpId: string
    reason: SignInFailure
    error?: string
    explanation?: { cause: ProviderCause; diagnostics: string | null } | null
  },
): EventOf<'signin.failed'> => ({
  type: 'signin.failed',
  userId,
  subjectIds: [clientId, idpId],
  detail: {
    method: 'provider',
    reason,
    ...(error && { error }),
    ...(explanation && { cause: explanation.cause }),
    ...(explanation?.diagnostics && { diagnostics: explanation.diagnostics }),
  },
})
