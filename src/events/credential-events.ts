import type { CredentialType } from '../model/credential-types.ts'
import type { EventDetail, EventOf, LinkFailure } from './types.ts'

type Channel = 'email' | 'sms'

/**
 * `channel` delivers the link; null when the caller delivers it. `waitSeconds` is null unless it recovers the access
 * of a user who has a credential.
 */
export const enrollmentCreated = (
  userId: string,
  channel: Channel | null,
  waitSeconds: number | null = null,
): EventOf<'credential.enrollment_created'> => ({
  type: 'credential.enrollment_created',
  userId,
  detail: { channel, ...(waitSeconds !== null && { waitSeconds }) },
})

/** The user canceled the link. */
export const enrollmentCanceled = (userId: string): EventOf<'credential.enrollment_canceled'> => ({
  type: 'credential.enrollment_canceled',
  userId,
})

/** The key of an authenticator app was shown to its user. */
export const totpEnrollmentCreated = (userId: string): EventOf<'credential.enrollment_created'> => ({
  type: 'credential.enrollment_created',
  userId,
  detail: { channel: null, type: 'totp' },
})

/** The link or its announcement could not be delivered. Without a channel, the link itself was not to be sent. */
export const enrollmentUndelivered = (
  userId: string,
  channel: Channel | null,
): EventOf<'credential.enrollment_failed'> => ({
  type: 'credential.enrollment_failed',
  userId,
  detail: { channel, reason: 'delivery' },
})

/** A credential and its user; a passkey by default. */
type CredentialSubject = { id: string; userId: string; type?: CredentialType }

export const credentialEnrolled = ({
  id,
  userId,
  type = 'public-key',
}: CredentialSubject): EventOf<'credential.enrolled'> => ({
  type: 'credential.enrolled',
  userId,
  subjectIds: [id],
  detail: { type },
})

export const credentialRevoked = ({
  id,
  userId,
  type = 'public-key',
}: CredentialSubject): EventOf<'credential.revoked'> => ({
  type: 'credential.revoked',
  userId,
  subjectIds: [id],
  detail: { type },
})

export const recoveryCodeUsed = (
  { id, userId }: CredentialSubject,
  remaining: number,
): EventOf<'credential.recovery_code_used'> => ({
  type: 'credential.recovery_code_used',
  userId,
  subjectIds: [id],
  detail: { remaining },
})

/** A synchronized passkey was accepted: each of its devices may count on its own. */
export const counterDecreased = (
  { id, userId }: CredentialSubject,
  counters: EventDetail<'credential.counter_decreased'>,
): EventOf<'credential.counter_decreased'> => ({
  type: 'credential.counter_decreased',
  userId,
  subjectIds: [id],
  detail: counters,
})

/** A user's link to an identity provider. */
type LinkSubject = { id: string; userId: string; idpId: string }

const toSubjects = ({ id, userId, idpId }: LinkSubject) => ({ userId, subjectIds: [id, idpId] })

/** A link that an API call added. */
export const idpUserAdded = (link: LinkSubject): EventOf<'idpuser.added'> => ({
  type: 'idpuser.added',
  ...toSubjects(link),
})

/** A link that a sign-in at the identity provider created. */
export const idpUserLinked = (link: LinkSubject): EventOf<'idpuser.linked'> => ({
  type: 'idpuser.linked',
  ...toSubjects(link),
})

/** A proven identity was not linked to the user who signed in. */
export const idpUserLinkFailed = (
  { userId, idpId }: Omit<LinkSubject, 'id'>,
  reason: LinkFailure,
): EventOf<'idpuser.link_failed'> => ({
  type: 'idpuser.link_failed',
  userId,
  subjectIds: [idpId],
  detail: { reason },
})

export const idpUserUpdated = (link: LinkSubject, changedFields: string[]): EventOf<'idpuser.updated'> => ({
  type: 'idpuser.updated',
  ...toSubjects(link),
  changedFields,
})

export const idpUserUnlinked = (link: LinkSubject): EventOf<'idpuser.unlinked'> => ({
  type: 'idpuser.unlinked',
  ...toSubjects(link),
})

export const idpUserTokensRead = (link: LinkSubject): EventOf<'idpuser.tokens_read'> => ({
  type: 'idpuser.tokens_read',
  ...toSubjects(link),
})

export const idpUserTokensDeleted = (link: LinkSubject): EventOf<'idpuser.tokens_deleted'> => ({
  type: 'idpuser.tokens_deleted',
  ...toSubjects(link),
  detail: { reason: 'refused' },
})

export const idpCreated = (idpId: string): EventOf<'idp.created'> => ({
  type: 'idp.created',
  subjectIds: [idpId],
})

export const idpUpdated = (idpId: string, changedFields: string[]): EventOf<'idp.updated'> => ({
  type: 'idp.updated',
  subjectIds: [idpId],
  changedFields,
})

/** `succeeded` if no check failed. */
export const idpTested = (idpId: string, succeeded: boolean): EventOf<'idp.tested'> => ({
  type: 'idp.tested',
  subjectIds: [idpId],
  detail: { succeeded },
})

/** `links` is the number of users' links that were deleted with it. */
export const idpDeleted = (idpId: string, links: number): EventOf<'idp.deleted'> => ({
  type: 'idp.deleted',
  subjectIds: [idpId],
  detail: { links },
})
