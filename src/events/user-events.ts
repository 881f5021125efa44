import type { EventOf, UserOrigin } from './types.ts'

/** Without `userId`, the statement that records the event sets it. */
export const userCreated = (userId?: string, origin: UserOrigin = null): EventOf<'user.created'> => ({
  type: 'user.created',
  userId,
  detail: origin,
})

/** `changedFields` are names of API fields. */
export const userUpdated = (userId: string, changedFields: string[]): EventOf<'user.updated'> => ({
  type: 'user.updated',
  userId,
  changedFields,
})

/** The first verification of an address, with the ids of the credentials and links that it deleted. */
export const addressVerified = (
  userId: string,
  channel: 'email' | 'sms',
  removed: { credentialIds: string[]; linkIds: string[] },
): EventOf<'user.updated'> => ({
  ...userUpdated(userId, [channel === 'email' ? 'emailVerified' : 'phoneNumberVerified']),
  subjectIds: [...removed.credentialIds, ...removed.linkIds],
  detail: {
    cause: 'first proof',
    credentialsRemoved: removed.credentialIds.length,
    linksRemoved: removed.linkIds.length,
  },
})

export const userLocked = (userId: string): EventOf<'user.locked'> => ({ type: 'user.locked', userId })

export const userUnlocked = (userId: string): EventOf<'user.unlocked'> => ({ type: 'user.unlocked', userId })

/** An administrator reset the limits of codes and guesses at the addresses of the user. */
export const limitsReset = (userId: string): EventOf<'user.limits_reset'> => ({
  type: 'user.limits_reset',
  userId,
})

/** An existing user agreed to a version of the terms of use. */
export const termsAccepted = (userId: string, version: string): EventOf<'user.terms_accepted'> => ({
  type: 'user.terms_accepted',
  userId,
  detail: { version },
})

export const deletionRequested = (userId: string, dueAt: Date): EventOf<'user.deletion_requested'> => ({
  type: 'user.deletion_requested',
  userId,
  detail: { due_at: dueAt.toISOString() },
})

export const deletionCanceled = (userId: string): EventOf<'user.deletion_canceled'> => ({
  type: 'user.deletion_canceled',
  userId,
})

export const userDeleted = (userId: string): EventOf<'user.deleted'> => ({ type: 'user.deleted', userId })

/** `roles` are the current roles of the user. */
export const rolesChanged = (userId: string, roles: string[]): EventOf<'role.changed'> => ({
  type: 'role.changed',
  userId,
  detail: { roles: roles.join(' ') },
})
