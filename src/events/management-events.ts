import type { EventDetail, EventOf } from './types.ts'

/** How a client was changed; undefined for a call by an administrator. */
type ChangedBy = NonNullable<EventDetail<'client.updated'>>['by'] | undefined

const toDetail = (by: ChangedBy) => (by ? { by } : null)

/** `registrationTokenId` is the token that permitted a registration (RFC 7591). */
export const clientCreated = (
  clientId: string,
  { by, registrationTokenId }: { by?: ChangedBy; registrationTokenId?: string | null } = {},
): EventOf<'client.created'> => ({
  type: 'client.created',
  subjectIds: [clientId, ...(registrationTokenId ? [registrationTokenId] : [])],
  detail: toDetail(by),
})

export const clientUpdated = (
  clientId: string,
  changedFields: string[],
  by?: ChangedBy,
): EventOf<'client.updated'> => ({
  type: 'client.updated',
  subjectIds: [clientId],
  changedFields,
  detail: toDetail(by),
})

export const clientDeleted = (clientId: string, by?: ChangedBy): EventOf<'client.deleted'> => ({
  type: 'client.deleted',
  subjectIds: [clientId],
  detail: toDetail(by),
})

export const registrationTokenCreated = (tokenId: string): EventOf<'registration_token.created'> => ({
  type: 'registration_token.created',
  subjectIds: [tokenId],
})

export const registrationTokenRevoked = (tokenId: string): EventOf<'registration_token.revoked'> => ({
  type: 'registration_token.revoked',
  subjectIds: [tokenId],
})

export const tenantCreated = (slug: string): EventOf<'tenant.created'> => ({
  type: 'tenant.created',
  subjectIds: [slug],
})

export const tenantUpdated = (changedFields: string[]): EventOf<'tenant.updated'> => ({
  type: 'tenant.updated',
  changedFields,
})

export const tenantDeleted = (slug: string): EventOf<'tenant.deleted'> => ({
  type: 'tenant.deleted',
  subjectIds: [slug],
})

/** A new signing key that signs from `activeAt` on. */
export const keyRotated = (key: { id: string; alg: string; activeAt: Date }): EventOf<'key.rotated'> => ({
  type: 'key.rotated',
  subjectIds: [key.id],
  detail: { kid: key.id, alg: key.alg, activeAt: key.activeAt.toISOString() },
})
