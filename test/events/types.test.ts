import { describe, expect, test } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import * as credential from '../../src/events/credential-events.ts'
import * as grant from '../../src/events/grant-events.ts'
import * as invitation from '../../src/events/invitation-events.ts'
import { createEventRow } from '../../src/events/log.ts'
import * as management from '../../src/events/management-events.ts'
import * as session from '../../src/events/session-events.ts'
import { EVENT_TYPES, EVENTS, type NewEvent } from '../../src/events/types.ts'
import * as user from '../../src/events/user-events.ts'

const SESSION = { id: 'session_1', userId: 'user_1', clientId: 'client_1' }
const GRANT = { id: 'grant_1', userId: 'user_1', clientId: 'client_1', sessionId: 'session_1' }
const AGREED = {
  userId: 'user_1',
  clientId: 'client_1',
  scopes: ['openid'],
  claims: ['email'],
  resources: ['https://api.shop.example'],
}
const DEVICE = { userId: 'user_1', sessionId: 'session_1', clientId: 'client_1' }
const LINK = { id: 'idpuser_1', userId: 'user_1', idpId: 'google' }
const ATTEMPT = { attempts: 1, status: 503, fault: null }
const REFUSAL = {
  error: 'invalid_grant',
  description: 'No.',
  endpoint: 'token',
  reason: 'expired',
  ageSeconds: 61,
}
const HASH = Buffer.alloc(32)
const REMOVED = { credentialIds: ['cred_1'], linkIds: ['idpuser_1'] }

/** At least one call of every constructor, by its name. */
const CONSTRUCTOR_CALLS: Record<string, NewEvent[]> = {
  userCreated: [
    user.userCreated('user_1'),
    user.userCreated(),
    user.userCreated('user_1', { origin: 'sign-up' }),
  ],
  userUpdated: [user.userUpdated('user_1', ['name'])],
  addressVerified: [
    user.addressVerified('user_1', 'email', REMOVED),
    user.addressVerified('user_1', 'sms', REMOVED),
  ],
  userLocked: [user.userLocked('user_1')],
  userUnlocked: [user.userUnlocked('user_1')],
  limitsReset: [user.limitsReset('user_1')],
  termsAccepted: [user.termsAccepted('user_1', '2026-11')],
  deletionRequested: [user.deletionRequested('user_1', new Date())],
  deletionCanceled: [user.deletionCanceled('user_1')],
  userDeleted: [user.userDeleted('user_1')],
  rolesChanged: [user.rolesChanged('user_1', ['admin', 'support'])],
  sessionStarted: [session.sessionStarted(SESSION, 'browser')],
  sessionReauthenticated: [session.sessionReauthenticated(SESSION)],
  sessionRefreshed: [session.sessionRefreshed()],
  sessionEnded: [
    session.sessionEnded(SESSION, 'logout'),
    session.sessionEnded({ ...SESSION, clientId: null }, 'expired'),
    session.sessionEnded(null, 'revoked'),
  ],
  passcodeSent: [
    session.passcodeSent('email', { userId: 'user_1' }),
    session.passcodeSent('sms', { userId: null, purpose: 'sign-up' }),
  ],
  passcodeFailed: [session.passcodeFailed('email', { userId: null })],
  passcodeUndelivered: [session.passcodeUndelivered('sms', { userId: 'user_1', purpose: 'address-change' })],
  passcodeWithheld: [session.passcodeWithheld('email', { userId: 'user_1', purpose: 'address-change' })],
  passcodeLimited: [session.passcodeLimited({ userId: 'user_1', purpose: 'address-change' }, 'prefix')],
  signInFailed: [
    session.signInFailed('sms', {
      userId: 'user_1',
      clientId: 'client_1',
      addressHash: HASH,
      reason: 'wrong',
    }),
    session.signInFailed('email', { clientId: null, addressHash: HASH, reason: 'unknown' }),
  ],
  providerFailed: [
    session.providerFailed('user_1', { clientId: 'client_1', idpId: 'google', reason: 'locked' }),
    session.providerFailed(null, {
      clientId: 'client_1',
      idpId: 'google',
      reason: 'refused',
      error: 'server_error',
    }),
    session.providerFailed(null, {
      clientId: 'client_1',
      idpId: 'google',
      reason: 'misconfigured',
      explanation: { cause: 'issuer differs by a slash', diagnostics: 'iss is https://login.example' },
    }),
  ],
  secondFactorFailed: [
    session.secondFactorFailed('user_1', { clientId: 'client_1', method: 'totp', reason: 'wrong' }),
  ],
  passkeyFailed: [
    session.passkeyFailed('user_1', { clientId: 'client_1', reason: 'cloned' }),
    session.passkeyFailed(null, { clientId: 'client_1', reason: 'unknown' }),
  ],
  grantCreated: [grant.grantCreated()],
  grantRefreshed: [grant.grantRefreshed()],
  grantRevoked: [grant.grantRevoked(GRANT, 'locked'), grant.grantRevoked(null, 'refresh token replayed')],
  consentGranted: [grant.consentGranted(AGREED, 'session_1')],
  consentRevoked: [
    grant.consentRevoked(AGREED),
    grant.consentRevoked({ ...AGREED, claims: [], resources: [] }),
  ],
  deviceApproved: [grant.deviceApproved(DEVICE, ['openid'])],
  deviceDenied: [grant.deviceDenied(DEVICE)],
  logoutAttempted: [
    grant.logoutAttempted('logout.delivered', { ...ATTEMPT, status: 200 }),
    grant.logoutAttempted('logout.delayed', { ...ATTEMPT, status: null, fault: 'timeout' }),
    grant.logoutAttempted('logout.failed', ATTEMPT),
  ],
  requestRefused: [
    grant.requestRefused('authorize.refused', null, REFUSAL),
    grant.requestRefused('token.refused', 'client_1', REFUSAL),
  ],
  enrollmentCreated: [
    credential.enrollmentCreated('user_1', 'email'),
    credential.enrollmentCreated('user_1', null),
  ],
  enrollmentUndelivered: [credential.enrollmentUndelivered('user_1', 'sms')],
  enrollmentCanceled: [credential.enrollmentCanceled('user_1')],
  totpEnrollmentCreated: [credential.totpEnrollmentCreated('user_1')],
  recoveryCodeUsed: [credential.recoveryCodeUsed({ id: 'cred_1', userId: 'user_1' }, 9)],
  counterDecreased: [credential.counterDecreased({ id: 'cred_1', userId: 'user_1' }, { from: 5, to: 4 })],
  credentialEnrolled: [credential.credentialEnrolled({ id: 'cred_1', userId: 'user_1' })],
  credentialRevoked: [credential.credentialRevoked({ id: 'cred_1', userId: 'user_1' })],
  idpUserAdded: [credential.idpUserAdded(LINK)],
  idpUserLinked: [credential.idpUserLinked(LINK)],
  idpUserLinkFailed: [credential.idpUserLinkFailed(LINK, 'taken')],
  idpUserUpdated: [credential.idpUserUpdated(LINK, ['metadata'])],
  idpUserTokensRead: [credential.idpUserTokensRead(LINK)],
  idpUserTokensDeleted: [credential.idpUserTokensDeleted(LINK)],
  idpUserUnlinked: [credential.idpUserUnlinked(LINK)],
  idpCreated: [credential.idpCreated('google')],
  idpUpdated: [credential.idpUpdated('google', ['name'])],
  idpTested: [credential.idpTested('google', false)],
  idpDeleted: [credential.idpDeleted('google', 3)],
  clientCreated: [
    management.clientCreated('client_1'),
    management.clientCreated('client_1', { by: 'registration', registrationTokenId: 'regtoken_1' }),
  ],
  clientUpdated: [
    management.clientUpdated('client_1', ['name']),
    management.clientUpdated('client_1', ['name'], 'document'),
  ],
  clientDeleted: [management.clientDeleted('client_1', 'registration')],
  invitationCreated: [
    invitation.invitationCreated('invitation_1', ['admin', 'support']),
    invitation.invitationCreated('invitation_1', []),
  ],
  invitationResent: [invitation.invitationResent('invitation_1')],
  invitationUndelivered: [invitation.invitationUndelivered('invitation_1')],
  invitationRevoked: [invitation.invitationRevoked('invitation_1')],
  invitationAccepted: [invitation.invitationAccepted('invitation_1', 'user_1')],
  registrationTokenCreated: [management.registrationTokenCreated('regtoken_1')],
  registrationTokenRevoked: [management.registrationTokenRevoked('regtoken_1')],
  tenantCreated: [management.tenantCreated('acme')],
  tenantUpdated: [management.tenantUpdated(['friendlyName'])],
  tenantDeleted: [management.tenantDeleted('acme')],
  keyRotated: [management.keyRotated({ id: 'key_1', alg: 'ES256', activeAt: new Date() })],
}
/** The events that they return. */
const NEW_EVENTS = Object.values(CONSTRUCTOR_CALLS).flat()

describe('event constructors', () => {
  test('are all called by this test', () => {
    const constructors = [user, session, grant, credential, invitation, management].flatMap(Object.keys)
    expect(Object.keys(CONSTRUCTOR_CALLS).sort()).toEqual(constructors.sort())
  })

  test('create every type of event', () => {
    expect([...new Set(NEW_EVENTS.map(({ type }) => type))].sort()).toEqual([...EVENT_TYPES].sort())
  })

  test.each(NEW_EVENTS.map((event) => [event.type, event] as const))(
    '%s has a detail that its schema parses as it is stored',
    (type, event) => {
      const row = JSON.parse(JSON.stringify(createEventRow(createPlatformCtx('acme'), event))) as {
        detail: unknown
      }
      expect(EVENTS[type].parse(row.detail)).toEqual(row.detail)
    },
  )

  test('set user, session and subjects of session.ended and grant.revoked', () => {
    expect(session.sessionEnded(SESSION, 'logout')).toMatchObject({
      userId: 'user_1',
      sessionId: 'session_1',
      subjectIds: ['client_1'],
    })
    expect(grant.grantRevoked(GRANT, 'logout')).toMatchObject({
      userId: 'user_1',
      sessionId: 'session_1',
      subjectIds: ['grant_1', 'client_1'],
    })
  })
})
