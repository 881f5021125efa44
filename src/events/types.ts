import * as z from 'zod'
import { CREDENTIAL_TYPES } from '../model/credential-types.ts'
import { PROVIDER_CAUSE_NAMES } from '../model/provider-causes.ts'
import { SECOND_FACTORS, SIGN_IN_METHODS } from '../model/sign-in-methods.ts'

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
const SMS_REFUSALS = ['country', 'daily', 'prefix'] as const
export type SmsRefusal = (typeof SMS_REFUSALS)[number]

/**
 * Why a sign-in failed: the user is locked; no user has the address or passkey; the address is not verified,
 * and the user has another that is; the code is wrong or expired, or its attempts are used up; the response of
 * the passkey or of the identity provider does not verify, the counter of a passkey of one device went back, or the
 * backup eligibility of the passkey is another than when it was created; at the identity provider, the user canceled, it
 * refused or did not respond, or the configuration here or there is wrong; the text message was not sent because of a
 * limit.
 */
const SIGN_IN_FAILURES = [
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

/** Why a proven identity was not linked. */
const LINK_FAILURES = ['linked', 'taken', 'deleted', 'changed'] as const
export type LinkFailure = (typeof LINK_FAILURES)[number]

const NONE = z.null()
const channel = z.enum(['email', 'sms'])
const passcode = { channel, purpose: z.enum(['address-change', 'sign-up']).optional() }
const consent = z.strictObject({
  scope: z.string(),
  claims: z.string().optional(),
  resources: z.string().optional(),
})
/** Null in events of earlier versions, which had passkeys only. */
const credential = z.strictObject({ type: z.enum(CREDENTIAL_TYPES) }).nullable()
/** How a client was changed. */
const by = z
  .strictObject({ by: z.enum(['administrator', 'registration', 'open-registration', 'document']) })
  .nullable()
/** `fault` is the error of an attempt without an HTTP status. */
const logout = z.strictObject({
  attempts: z.int(),
  status: z.int().nullable(),
  fault: z.string().nullable(),
})
/** The error that was sent to the client, or that its browser shows, and diagnostics that only the event log has. */
const refused = z
  .object({
    error: z.string(),
    description: z.string(),
    endpoint: z.string().optional(),
    client_id: z.string().optional(),
  })
  .catchall(z.union([z.string(), z.number(), z.boolean(), z.null()]))

/**
 * Every type of event with the schema of its `detail`. The comments name its subjects: `userId`, `sessionId`,
 * then the members of `subjectIds` in order. A new type is one line here and one constructor in this folder.
 * `changedFields` has names of fields; the log has no values of personal data.
 */
export const EVENTS = {
  /** userId; `origin` is null when a caller created the user */
  'user.created': z.strictObject({ origin: z.enum(['sign-up', 'invitation']) }).nullable(),
  /**
   * userId; the first verification of an address adds the ids of the credentials and links that it deleted
   */
  'user.updated': z
    .strictObject({
      cause: z.literal('first proof'),
      credentialsRemoved: z.int(),
      linksRemoved: z.int(),
    })
    .nullable(),
  /** userId */
  'user.locked': NONE,
  /** userId */
  'user.unlocked': NONE,
  /** userId */
  'user.limits_reset': NONE,
  /** userId: after a sign-in; the consent of a new user is part of `user.created` */
  'user.terms_accepted': z.strictObject({ version: z.string() }),
  /** userId: the user asked to be deleted, at `due_at` */
  'user.deletion_requested': z.strictObject({ due_at: z.iso.datetime() }),
  /** userId: the user keeps the account */
  'user.deletion_canceled': NONE,
  /** userId */
  'user.deleted': NONE,
  /** userId, sessionId, [client] */
  'session.started': z.strictObject({ kind: z.enum(['browser', 'api', 'oidc']) }),
  /** userId, sessionId: the user signed in again in a session of a browser */
  'session.reauthenticated': NONE,
  /** userId, sessionId */
  'session.refreshed': z.strictObject({ rotated: z.boolean() }),
  /** userId, sessionId, [client] */
  'session.ended': z.strictObject({ reason: z.enum(SESSION_END_REASONS) }),
  /** userId, null for purpose `sign-up`: the address has no user */
  'passcode.sent': z.strictObject(passcode),
  /**
   * userId, null for an unknown address; reason `delivery` if the message could not be sent, `taken` if the new
   * address of the user is another user's, a limit of text messages, absent for a wrong code
   */
  'passcode.failed': z.strictObject({
    ...passcode,
    reason: z.enum(['delivery', 'taken', ...SMS_REFUSALS]).optional(),
  }),
  /** userId, sessionId, [grant, client] */
  'grant.created': NONE,
  /**
   * userId, sessionId, [grant, client]: the first rotation of the grant's refresh token in each clock hour (UTC). Later
   * rotations of the hour are not recorded; replays, revocations and rejections always are.
   */
  'grant.refreshed': NONE,
  /** userId, sessionId, [grant, client] */
  'grant.revoked': z.strictObject({ reason: z.enum(GRANT_END_REASONS) }),
  /** userId, sessionId, [client] */
  'consent.granted': consent,
  /** userId, [client] */
  'consent.revoked': consent,
  /** userId, sessionId, [client] */
  'device.approved': z.strictObject({ scope: z.string() }),
  /** userId, sessionId, [client] */
  'device.denied': NONE,
  /** userId; `channel` is null when the caller delivers the link */
  'credential.enrollment_created': z.strictObject({
    channel: channel.nullable(),
    // Absent for a passkey.
    type: z.literal('totp').optional(),
    // Of the link of an administrator for a user who has a credential.
    waitSeconds: z.int().optional(),
  }),
  /** userId: the user canceled the link of an administrator */
  'credential.enrollment_canceled': NONE,
  /** userId; `channel` is null when the caller delivers the link, and its announcement could not be sent */
  'credential.enrollment_failed': z.strictObject({
    channel: channel.nullable(),
    reason: z.literal('delivery'),
  }),
  /** userId, [credential] */
  'credential.enrolled': credential,
  /** userId, [credential] */
  'credential.revoked': credential,
  /** userId, [credential]: a recovery code was accepted, of which so many remain */
  'credential.recovery_code_used': z.strictObject({ remaining: z.int() }),
  /** userId, [credential]: a synchronized passkey was accepted, whose counter is not above that of its last use */
  'credential.counter_decreased': z.strictObject({ from: z.int(), to: z.int() }),
  /** userId, null for an unknown address; [client, identity provider] */
  'signin.failed': z.strictObject({
    method: z.enum([...SIGN_IN_METHODS, ...SECOND_FACTORS]),
    // Of a passcode.
    channel: channel.optional(),
    // Absent in events of earlier versions.
    reason: z.enum(SIGN_IN_FAILURES).optional(),
    // The error code of an identity provider.
    error: z.string().optional(),
    // Why a sign-in at an identity provider failed.
    cause: z.enum(PROVIDER_CAUSE_NAMES).optional(),
    diagnostics: z.string().optional(),
  }),
  /** [client] */
  'authorize.refused': refused,
  /** [client] */
  'token.refused': refused,
  /** [client, registration token] */
  'client.created': by,
  /** [client] */
  'client.updated': by,
  /** [client] */
  'client.deleted': by,
  /** [registration token] */
  'registration_token.created': NONE,
  /** [registration token] */
  'registration_token.revoked': NONE,
  /** [invitation]; the roles that it gives, separated by spaces */
  'invitation.created': z.strictObject({ roles: z.string() }),
  /** [invitation] */
  'invitation.resent': NONE,
  /** [invitation]: the message could not be delivered */
  'invitation.failed': z.strictObject({ reason: z.literal('delivery') }),
  /** [invitation] */
  'invitation.revoked': NONE,
  /** userId, [invitation] */
  'invitation.accepted': NONE,
  /** [identity provider] */
  'idp.created': NONE,
  /** [identity provider] */
  'idp.updated': NONE,
  /** [identity provider]: a caller tested its configuration; `succeeded` if no check failed */
  'idp.tested': z.strictObject({ succeeded: z.boolean() }),
  /** [identity provider]; `links` is the number of links that were deleted with it */
  'idp.deleted': z.strictObject({ links: z.int() }),
  /** userId, [link, identity provider] */
  'idpuser.added': NONE,
  /** userId, [link, identity provider] */
  'idpuser.linked': NONE,
  /**
   * userId, [identity provider]: the identity that the user proved in a sign-in was not linked; the user has another
   * one of the provider, another user has it, the user or the provider was deleted, or the provider was changed
   */
  'idpuser.link_failed': z.strictObject({ reason: z.enum(LINK_FAILURES) }),
  /** userId, [link, identity provider] */
  'idpuser.updated': NONE,
  /** userId, [link, identity provider] */
  'idpuser.unlinked': NONE,
  /** userId, [link, identity provider]: the actor read the access token of the provider */
  'idpuser.tokens_read': NONE,
  /** userId, [link, identity provider]: the provider does not accept the refresh token any more */
  'idpuser.tokens_deleted': z.strictObject({ reason: z.literal('refused') }),
  /** userId; the current roles, separated by spaces */
  'role.changed': z.strictObject({ roles: z.string() }),
  /** [tenant] */
  'tenant.created': NONE,
  /** no subject: the tenant of the log */
  'tenant.updated': NONE,
  /** [tenant] */
  'tenant.deleted': NONE,
  /** [key] */
  'key.rotated': z.strictObject({ kid: z.string(), alg: z.string(), activeAt: z.iso.datetime() }),
  /** userId, sessionId, [client] */
  'logout.delivered': logout,
  /** userId, sessionId, [client] */
  'logout.delayed': logout,
  /** userId, sessionId, [client] */
  'logout.failed': logout,
} as const

export type EventType = keyof typeof EVENTS
export const EVENT_TYPES = Object.keys(EVENTS) as [EventType, ...EventType[]]

/** Rejected requests: most are written by callers without credentials, and they are deleted first. */
export type RefusedEventType = Extract<EventType, `${string}.refused`>
export const REFUSED_EVENT_TYPES = EVENT_TYPES.filter((type): type is RefusedEventType =>
  type.endsWith('.refused'),
)

/** How a user was created other than by a caller. */
export type UserOrigin = z.infer<(typeof EVENTS)['user.created']>

export type EventDetail<Type extends EventType> = z.infer<(typeof EVENTS)[Type]>

/**
 * An event of one type, which a constructor creates and `createEventRow` converts to a row. A subject that is
 * omitted is null or, if an SQL statement records the event, set from the statement's row
 * (event-columns.sql.ts).
 */
export type EventOf<Type extends EventType> = {
  type: Type
  userId?: string | null
  sessionId?: string | null
  subjectIds?: string[]
  changedFields?: string[]
  /** Of a failed sign-in: `hashAddress`. Events are found by it and do not show it. */
  addressHash?: Type extends 'signin.failed' ? Buffer : never
} & (null extends EventDetail<Type> ? { detail?: EventDetail<Type> } : { detail: EventDetail<Type> })

/** An event of any type. */
export type NewEvent = { [Type in EventType]: EventOf<Type> }[EventType]
