import * as z from 'zod'
import { PROVIDER_CAUSE_NAMES } from '../model/provider-causes.ts'
import { ADMINISTRATION_EVENTS } from './administration-types.ts'
import { ORGANIZATION_EVENTS, PERMISSION_EVENTS, WEBHOOK_EVENTS } from './customer-types.ts'
import {
  by,
  channel,
  consent,
  credential,
  event,
  logout,
  method,
  NONE,
  passcode,
  refused,
  type View,
} from './declare-event.ts'
import { PROVIDER_EVENTS } from './provider-types.ts'
import {
  GRANT_END_REASONS,
  PROOF_FAULTS,
  SESSION_END_REASONS,
  SIGN_IN_FAILURES,
  SMS_REFUSALS,
} from './reasons.ts'
import { SIGNAL_EVENTS } from './signal-types.ts'

/**
 * Every type of event, from which the enum of GraphQL, the filters, the streams and docs/events.md follow. A new type is
 * an entry here and a call of `createEvent`. The log has names of changed fields, and no values of personal data.
 */
export const EVENTS = {
  'user.created': event(
    'A user was created. `origin` is set if the person did it.',
    ['userId'],
    z.strictObject({ origin: z.enum(['sign-up', 'invitation']) }).nullable(),
  ),
  'user.updated': event(
    'Fields of a user changed. The first verification of an address also removes the credentials, links and API keys that were added before.',
    ['userId', 'credentialIds?', 'linkIds?', 'apiKeyIds?'],
    z
      .strictObject({
        cause: z.literal('first proof'),
        credentialsRemoved: z.int(),
        linksRemoved: z.int(),
        // Absent in events of earlier versions.
        apiKeysRemoved: z.int().optional(),
      })
      .nullable(),
  ),
  'user.locked': event('The user was locked.', ['userId'], NONE, 'UserLockEvent'),
  'user.unlocked': event('The user was unlocked.', ['userId'], NONE, 'UserLockEvent'),
  'user.limits_reset': event(
    'An administrator reset the limits of codes and guesses at the addresses of the user.',
    ['userId'],
  ),
  'user.terms_accepted': event(
    'An existing user agreed to a version of the terms of use. The consent of a new user is part of `user.created`.',
    ['userId'],
    z.strictObject({ version: z.string() }),
  ),
  'user.deletion_requested': event(
    'The user asked to be deleted at `due_at`.',
    ['userId'],
    z.strictObject({ due_at: z.iso.datetime() }),
  ),
  'user.deletion_canceled': event('The user keeps the account.', ['userId']),
  'user.deleted': event('The user was deleted.', ['userId']),
  'session.started': event(
    'The session started.',
    ['userId', 'sessionId', 'clientId?'],
    z.strictObject({
      kind: z.enum(['browser', 'api', 'oidc']),
      // Of a sign-in. Absent in events of earlier versions.
      method: method.optional(),
    }),
    'SessionEvent',
  ),
  'session.reauthenticated': event(
    'The user signed in again in the same session.',
    ['userId', 'sessionId'],
    // Null in events of earlier versions.
    z.strictObject({ method }).nullable(),
    'SessionEvent',
  ),
  'session.refreshed': event(
    'Its expiry was extended or its token rotated.',
    ['userId', 'sessionId'],
    z.strictObject({ rotated: z.boolean() }),
    'SessionEvent',
  ),
  'session.ended': event(
    'The session ended.',
    ['userId', 'sessionId', 'clientId?'],
    z.strictObject({ reason: z.enum(SESSION_END_REASONS) }),
    'SessionEvent',
  ),
  'passcode.sent': event(
    'A code was sent. The address of a sign-up has no user.',
    ['userId?'],
    z.strictObject(passcode),
  ),
  'passcode.failed': event(
    "A code was wrong, or could not be sent, with a reason: the new address is another user's (`taken`), or a limit of text messages.",
    ['userId?'],
    z.strictObject({
      ...passcode,
      reason: z.enum(['delivery', 'taken', ...SMS_REFUSALS]).optional(),
    }),
  ),
  'grant.created': event('A client was granted access.', ['userId', 'sessionId', 'grantId', 'clientId']),
  'grant.refreshed': event(
    "The first rotation of the grant's refresh token in a clock hour (UTC). Later rotations of the hour are not recorded; replays, revocations and rejections always are.",
    ['userId', 'sessionId', 'grantId', 'clientId'],
  ),
  'grant.revoked': event(
    'A grant was revoked.',
    ['userId', 'sessionId', 'grantId', 'clientId'],
    z.strictObject({ reason: z.enum(GRANT_END_REASONS) }),
  ),
  'consent.granted': event('A user consented to a client.', ['userId', 'sessionId', 'clientId'], consent),
  'consent.revoked': event('The consent to a client was revoked.', ['userId', 'clientId'], consent),
  'device.approved': event(
    'A user approved a device.',
    ['userId', 'sessionId', 'clientId'],
    z.strictObject({ scope: z.string() }),
  ),
  'device.denied': event('A user denied a device.', ['userId', 'sessionId', 'clientId']),
  'credential.enrollment_created': event(
    'A link to add a passkey was created, or the key of an authenticator app was shown. `channel` is null when the caller delivers the link; `waitSeconds` is set for a user who has a credential.',
    ['userId'],
    z.strictObject({
      channel: channel.nullable(),
      // Absent for a passkey.
      type: z.literal('totp').optional(),
      waitSeconds: z.int().optional(),
    }),
  ),
  'credential.enrollment_canceled': event('The user canceled the link of an administrator.', ['userId']),
  'credential.enrollment_failed': event(
    'The link, or without a channel its announcement, could not be delivered.',
    ['userId'],
    z.strictObject({ channel: channel.nullable(), reason: z.literal('delivery') }),
  ),
  'credential.enrolled': event('A credential was added.', ['userId', 'credentialId'], credential),
  'credential.migrated': event(
    'The user signed in with the password of the system that they were imported from. Its hash was deleted.',
    ['userId', 'clientId'],
    z.strictObject({
      // `url`: the proofUrl of the tenant judged the password.
      algorithm: z.enum(['bcrypt', 'argon2', 'scrypt', 'firebase-scrypt', 'pbkdf2', 'digest', 'url']),
    }),
  ),
  'credential.proof_failed': event(
    'The proofUrl of the tenant was asked about the password of a user and gave no answer: the password counted as wrong.',
    ['userId'],
    z.strictObject({ reason: z.enum(PROOF_FAULTS) }),
  ),
  'credential.revoked': event('A credential was removed.', ['userId', 'credentialId'], credential),
  'credential.recovery_code_used': event(
    'A recovery code was accepted, of which so many remain.',
    ['userId', 'credentialId'],
    z.strictObject({ remaining: z.int() }),
  ),
  'credential.counter_decreased': event(
    'A synchronized passkey was accepted whose counter is not above that of its last use: each of its devices may count on its own.',
    ['userId', 'credentialId'],
    z.strictObject({ from: z.int(), to: z.int() }),
  ),
  'signin.failed': event(
    'A sign-in was not accepted. An unknown address has no user. A sign-in at an identity provider has the `error` of the provider, the cause and diagnostics.',
    ['userId?', 'clientId?', 'idpId?'],
    z.strictObject({
      method,
      // Of a passcode.
      channel: channel.optional(),
      // Absent in events of earlier versions.
      reason: z.enum(SIGN_IN_FAILURES).optional(),
      error: z.string().optional(),
      cause: z.enum(PROVIDER_CAUSE_NAMES).optional(),
      diagnostics: z.string().optional(),
    }),
  ),
  'authorize.refused': event('An authorization request was rejected.', ['clientId?'], refused),
  'token.refused': event('A request with a token, a code or a secret was rejected.', ['clientId?'], refused),
  'token.claims_omitted': event(
    'A token or a userinfo response was issued without mapped `claims`, separated by spaces, because it would be too large.',
    ['userId', 'clientId'],
    z.strictObject({ target: z.enum(['id_token', 'access_token', 'userinfo']), claims: z.string() }),
  ),
  'client.created': event('A client was created.', ['clientId', 'registrationTokenId?'], by),
  'client.updated': event('A client changed.', ['clientId'], by),
  'client.deleted': event('A client was deleted.', ['clientId'], by),
  'trusted_document.registered': event(
    'GraphQL documents were registered for a client: so many `documents`.',
    ['clientId'],
    z.strictObject({ documents: z.int() }),
  ),
  'trusted_document.deleted': event('A GraphQL document of a client was deleted.', [
    'clientId',
    'trustedDocumentId',
  ]),
  ...PERMISSION_EVENTS,
  'invitation.created': event(
    'An invitation was created. It gives `roles`, separated by spaces, and may be one to an organization.',
    ['invitationId', 'organizationId?'],
    z.strictObject({ roles: z.string() }),
  ),
  'invitation.resent': event('An invitation was sent again.', ['invitationId', 'organizationId?']),
  'invitation.failed': event(
    'The message of an invitation could not be delivered.',
    ['invitationId', 'organizationId?'],
    z.strictObject({ reason: z.literal('delivery') }),
  ),
  'invitation.revoked': event('An invitation was revoked, or declined by the person.', [
    'invitationId',
    'organizationId?',
  ]),
  'invitation.accepted': event('An invitation was accepted.', ['userId', 'invitationId', 'organizationId?']),
  ...PROVIDER_EVENTS,
  'role.changed': event(
    'The roles of a user changed. `roles` are the new ones, separated by spaces.',
    ['userId'],
    z.strictObject({ roles: z.string() }),
  ),
  'management_role.created': event(
    'A management role was defined. `scopes` are those that it permits, separated by spaces.',
    ['managementRoleId'],
    z.strictObject({ name: z.string(), scopes: z.string() }),
  ),
  'management_role.updated': event(
    'A management role changed, for all who hold it. `added` and `removed` are scopes, separated by spaces.',
    ['managementRoleId'],
    z.strictObject({ name: z.string(), added: z.string(), removed: z.string() }),
  ),
  'management_role.deleted': event(
    'A management role, which nobody held, was deleted.',
    ['managementRoleId'],
    z.strictObject({ name: z.string() }),
  ),
  ...ORGANIZATION_EVENTS,
  ...WEBHOOK_EVENTS,
  ...SIGNAL_EVENTS,
  ...ADMINISTRATION_EVENTS,
  'logout.delivered': event(
    'A relying party accepted a logout token.',
    ['userId', 'sessionId', 'clientId'],
    logout,
  ),
  'logout.delayed': event(
    'A logout token was not accepted and is sent again.',
    ['userId', 'sessionId', 'clientId'],
    logout,
  ),
  'logout.failed': event(
    'A logout token was not accepted and is not sent again.',
    ['userId', 'sessionId', 'clientId'],
    logout,
  ),
} as const

export type EventType = keyof typeof EVENTS
export const EVENT_TYPES = Object.keys(EVENTS) as [EventType, ...EventType[]]

/** A value of each type. */
export const mapEventTypes = <Value>(
  toValue: (declaration: (typeof EVENTS)[EventType]) => Value,
): Record<EventType, Value> =>
  Object.fromEntries(EVENT_TYPES.map((type) => [type, toValue(EVENTS[type])])) as Record<EventType, Value>

/** Whether a stored type is one of this version. */
export const isEventType = (type: string): type is EventType => Object.hasOwn(EVENTS, type)

/** The type of GraphQL of a stored event, which may be of another version. */
export const getView = (type: string): View => (isEventType(type) ? EVENTS[type].view : 'AuditEvent')

/** Rejected requests: most are written by callers without credentials, and they are deleted first. */
export type RefusedEventType = Extract<EventType, `${string}.refused`>
export const REFUSED_EVENT_TYPES = EVENT_TYPES.filter((type): type is RefusedEventType =>
  type.endsWith('.refused'),
)

export type EventDetail<Type extends EventType> = z.infer<(typeof EVENTS)[Type]['detail']>

/** How a user was created other than by a caller. */
export type UserOrigin = EventDetail<'user.created'>
