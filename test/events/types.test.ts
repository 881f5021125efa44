import { describe, expect, test } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { type About, createEvent } from '../../src/events/create-event.ts'
import { createEventRow } from '../../src/events/log.ts'
import { EVENT_TYPES, EVENTS, type EventDetail, type EventType } from '../../src/events/types.ts'

const HASH = Buffer.alloc(32)
const CTX = createPlatformCtx('acme')

describe('createEvent', () => {
  test('takes the subjects in the order of their declaration, whatever the order of the members is', () => {
    const about = { clientId: 'client_1', grantId: 'grant_1', sessionId: 'session_1', userId: 'user_1' }
    expect(createEvent('grant.revoked', about, { reason: 'logout' })).toMatchObject({
      type: 'grant.revoked',
      userId: 'user_1',
      sessionId: 'session_1',
      subjectIds: ['grant_1', 'client_1'],
      detail: { reason: 'logout' },
    })
  })

  test.for<[title: string, about: About<'session.ended'>, subjectIds: string[]]>([
    ['an id', { userId: 'user_1', sessionId: 'session_1', clientId: 'client_1' }, ['client_1']],
    ['null', { userId: 'user_1', sessionId: 'session_1', clientId: null }, []],
    ['nothing', { userId: 'user_1', sessionId: 'session_1' }, []],
  ])('takes %s for a subject that some of the events have', ([, about, subjectIds]) => {
    expect(createEvent('session.ended', about, { reason: 'logout' }).subjectIds).toEqual(subjectIds)
  })

  test('takes several ids of one kind', () => {
    const about = { userId: 'user_1', credentialIds: ['cred_1', 'cred_2'], linkIds: ['idpuser_1'] }
    expect(createEvent('user.updated', about).subjectIds).toEqual(['cred_1', 'cred_2', 'idpuser_1'])
  })

  test('leaves the subjects to the statement that records the event', () => {
    const event = createEvent('grant.created', null)
    expect(createEventRow(CTX, event)).toMatchObject({ userId: null, sessionId: null, subjectIds: [] })
  })

  test('keeps the hash of an address, and the names of changed fields', () => {
    expect(
      createEvent('signin.failed', { addressHash: HASH }, { method: 'passcode', reason: 'wrong' }),
    ).toMatchObject({ addressHash: HASH })
    expect(
      createEvent('idp.updated', { idpId: 'google', organizationId: null, changedFields: ['name'] }),
    ).toMatchObject({
      subjectIds: ['google'],
      changedFields: ['name'],
    })
  })
})

/** A detail of each type that has one. */
const DETAILS: { [Type in EventType as null extends EventDetail<Type> ? never : Type]: EventDetail<Type> } = {
  'token.claims_omitted': { target: 'access_token', claims: 'plan tier' },
  'webhook.failed_redelivered': { messages: 2 },
  'tenant.delivery_failing': { channel: 'email' },
  'tenant.delivery_recovered': { channel: 'sms' },
  'webhook.failing': { status: 503, fault: null },
  'signal_stream.failing': { status: 503, fault: null },
  'signal_stream.subject_changed': { included: false },
  'idp.signal_received': { type: 'session-revoked', sessions: 2 },
  'webhook.secret_rotated': { previous_expires_at: null },
  'user.terms_accepted': { version: '2026-11' },
  'trusted_document.registered': { documents: 3 },
  'user.deletion_requested': { due_at: new Date().toISOString() },
  'api.updated': { added: 2, removed: 1, roles: 3 },
  'api.deleted': { roles: 3 },
  'app_role.deleted': { users: 200, clients: 1, memberships: 2, groups: 0 },
  'app_role.updated': { added: 0, removed: 1 },
  'management_role.created': { name: 'helper', scopes: 'users:read users:write' },
  'management_role.updated': { name: 'helper', added: '', removed: 'users:write' },
  'management_role.deleted': { name: 'helper' },
  'user.app_roles_changed': { added: 'editor', removed: '' },
  'client.app_roles_changed': { added: '', removed: 'editor author' },
  'membership.app_roles_changed': { added: 'editor', removed: '' },
  'membership.role_claim_ignored': { ignored: '2 not text' },
  'group.app_roles_changed': { added: 'editor', removed: '' },
  'group.members_added': { users: 12 },
  'group.members_removed': { users: 1 },
  'role.changed': { roles: 'admin support' },
  'bulk_job.started': { action: 'add-roles', roles: 'support', users: 12 },
  'bulk_job.progressed': { done: 3, failed: 1 },
  'bulk_job.finished': { status: 'canceled', done: 7, failed: 1 },
  'credential.migrated': { algorithm: 'bcrypt' },
  'credential.proof_failed': { reason: 'slow' },
  'session.started': { kind: 'browser' },
  'session.refreshed': { rotated: false },
  'session.ended': { reason: 'logout' },
  'passcode.sent': { channel: 'sms', purpose: 'sign-up' },
  'passcode.failed': { channel: 'email', reason: 'taken' },
  'signin.failed': { method: 'provider', reason: 'misconfigured', cause: 'issuer differs by a slash' },
  'authorize.refused': { error: 'invalid_request', description: 'No.', reason: 'expired', ageSeconds: 61 },
  'token.refused': { error: 'invalid_grant', description: 'No.', endpoint: 'token' },
  'grant.revoked': { reason: 'refresh token replayed' },
  'consent.granted': { scope: 'openid', claims: 'email', resources: 'https://api.shop.example' },
  'consent.revoked': { scope: 'openid' },
  'device.approved': { scope: 'openid' },
  'credential.enrollment_created': { channel: null, type: 'totp' },
  'credential.enrollment_failed': { channel: 'sms', reason: 'delivery' },
  'credential.recovery_code_used': { remaining: 9 },
  'credential.counter_decreased': { from: 5, to: 4 },
  'invitation.created': { roles: '' },
  'api_key.created': { scopes: 'users:read', resources: '', allowed_networks: '' },
  'api_key.rotated': { previous_expires_at: null },
  'invitation.failed': { reason: 'delivery' },
  'organization.deleted': { members: 3 },
  'organization_domain.created': { domain: 'example.com' },
  'organization_domain.updated': { domain: 'example.com' },
  'organization_domain.deleted': { domain: 'example.com' },
  'organization_domain.verified': { domain: 'example.com' },
  'organization_domain.expiring': { domain: 'example.com', expires_at: new Date().toISOString() },
  'organization_domain.expired': { domain: 'example.com' },
  'membership.created': { joinedVia: 'invitation', isAdministrator: true },
  'membership.updated': { isAdministrator: false },
  'idp.tested': { succeeded: false },
  'idp.deleted': { links: 3 },
  'idpuser.link_failed': { reason: 'taken' },
  'idpuser.tokens_deleted': { reason: 'refused' },
  'key.rotated': { kid: 'key_1', alg: 'ES256', activeAt: new Date().toISOString() },
  'logout.delivered': { attempts: 1, status: 200, fault: null },
  'logout.delayed': { attempts: 1, status: null, fault: 'timeout' },
  'logout.failed': { attempts: 5, status: 503, fault: null },
}

test.for(EVENT_TYPES)('%s has a detail that its schema parses as it is stored', (type) => {
  const detail = ((DETAILS as Record<string, unknown>)[type] ?? null) as never
  const row = JSON.parse(JSON.stringify(createEventRow(CTX, createEvent(type, null, detail))))
  expect(EVENTS[type].detail.parse(row.detail)).toEqual(detail)
})
