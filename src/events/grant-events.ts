import type { EventDetail, EventOf, EventType, GrantEndReason, RefusedEventType } from './types.ts'

/** The subjects of an event of a grant. */
export type GrantSubject = { id: string; userId: string; clientId: string; sessionId: string | null }

const toSubjects = ({ id, userId, clientId, sessionId }: GrantSubject) => ({
  userId,
  sessionId,
  subjectIds: [id, clientId],
})

/** The statement that inserts the grant sets the subjects: `toGrantEventColumns`. */
export const grantCreated = (): EventOf<'grant.created'> => ({ type: 'grant.created' })

/** The statement that rotates the refresh token sets the subjects: `toGrantEventColumns`. */
export const grantRefreshed = (): EventOf<'grant.refreshed'> => ({ type: 'grant.refreshed' })

/** With null, the statement that revokes the grant sets the subjects: `toGrantEventColumns`. */
export const grantRevoked = (
  grant: GrantSubject | null,
  reason: GrantEndReason,
): EventOf<'grant.revoked'> => ({
  type: 'grant.revoked',
  ...(grant && toSubjects(grant)),
  detail: { reason },
})

/** What a user has consented to for a client. */
type ConsentScope = {
  userId: string
  clientId: string
  scopes: string[]
  claims: string[]
  resources: string[]
}

const toConsentDetail = ({ scopes, claims, resources }: ConsentScope) => ({
  scope: scopes.join(' '),
  ...(claims.length > 0 && { claims: claims.join(' ') }),
  ...(resources.length > 0 && { resources: resources.join(' ') }),
})

export const consentGranted = (consent: ConsentScope, sessionId: string): EventOf<'consent.granted'> => ({
  type: 'consent.granted',
  userId: consent.userId,
  sessionId,
  subjectIds: [consent.clientId],
  detail: toConsentDetail(consent),
})

export const consentRevoked = (consent: ConsentScope): EventOf<'consent.revoked'> => ({
  type: 'consent.revoked',
  userId: consent.userId,
  subjectIds: [consent.clientId],
  detail: toConsentDetail(consent),
})

/** The user that approved or denied a device code, the session, and the client of the device. */
export type DeviceSubject = { userId: string | null; sessionId: string | null; clientId: string }

const toDeviceSubjects = ({ userId, sessionId, clientId }: DeviceSubject) => ({
  userId,
  sessionId,
  subjectIds: [clientId],
})

export const deviceApproved = (device: DeviceSubject, scopes: string[]): EventOf<'device.approved'> => ({
  type: 'device.approved',
  ...toDeviceSubjects(device),
  detail: { scope: scopes.join(' ') },
})

export const deviceDenied = (device: DeviceSubject): EventOf<'device.denied'> => ({
  type: 'device.denied',
  ...toDeviceSubjects(device),
})

export type LogoutEventType = Extract<EventType, `logout.${string}`>

/**
 * An attempt to deliver a logout token. The statement that records the event sets the subjects from the
 * delivery's row.
 */
export const logoutAttempted = (
  type: LogoutEventType,
  detail: EventDetail<'logout.delivered'>,
): EventOf<LogoutEventType> => ({ type, detail })

/** A rejected request; `clientId` is null unless the client exists. */
export const requestRefused = (
  type: RefusedEventType,
  clientId: string | null,
  detail: EventDetail<'token.refused'>,
): EventOf<RefusedEventType> => ({ type, subjectIds: clientId ? [clientId] : [], detail })
