import type { EventOf } from './types.ts'

/** `roles` are those that the invitation gives. */
export const invitationCreated = (
  invitationId: string,
  roles: readonly string[],
): EventOf<'invitation.created'> => ({
  type: 'invitation.created',
  subjectIds: [invitationId],
  detail: { roles: roles.join(' ') },
})

export const invitationResent = (invitationId: string): EventOf<'invitation.resent'> => ({
  type: 'invitation.resent',
  subjectIds: [invitationId],
})

/** The message could not be delivered. */
export const invitationUndelivered = (invitationId: string): EventOf<'invitation.failed'> => ({
  type: 'invitation.failed',
  subjectIds: [invitationId],
  detail: { reason: 'delivery' },
})

export const invitationRevoked = (invitationId: string): EventOf<'invitation.revoked'> => ({
  type: 'invitation.revoked',
  subjectIds: [invitationId],
})

export const invitationAccepted = (invitationId: string, userId: string): EventOf<'invitation.accepted'> => ({
  type: 'invitation.accepted',
  userId,
  subjectIds: [invitationId],
})
