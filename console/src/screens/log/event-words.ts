import type { eventList_event$data } from '../../generated/eventList_event.graphql.ts'
import { t, tCount } from '../../words/words.ts'

/** Why a sign-in failed, by `reason`. */
const SIGN_IN_FAILURES: Record<string, string> = {
  locked: t('the user is locked'),
  unknown: t('no user has this address or passkey'),
  unverified: t('the address is not verified, and the user has another one that is'),
  wrong: t('the code was wrong'),
  expired: t('the code had expired'),
  exhausted: t('too many wrong codes were entered, so that the code no longer counts'),
  rejected: t('the response could not be verified'),
  cloned: t('the counter of the passkey went back, as that of a copy does'),
  eligibility: t('the passkey says something else about its backup than when it was created'),
  canceled: t('the user canceled at the identity provider'),
  refused: t('the identity provider refused the sign-in'),
  unavailable: t('the identity provider did not respond'),
  misconfigured: t('the configuration is wrong, here or at the identity provider'),
}

/** Why a message with a code was not sent, or a code was of no use, by `reason`. */
const CODE_FAILURES: Record<string, string> = {
  delivery: t('the message could not be delivered'),
  taken: t('another user has the new address'),
  country: t('text messages are not sent to the country of the number'),
  daily: t('the text messages of the day are used up'),
  prefix: t('too many text messages went to similar numbers'),
}

const LINK_FAILURES: Record<string, string> = {
  linked: t('the user has another identity of the provider'),
  taken: t('another user has this identity'),
  deleted: t('the user or the provider was deleted'),
  changed: t('the provider was changed meanwhile'),
}

const METHODS: Record<string, string> = {
  passcode: t('by a code'),
  passkey: t('by a passkey'),
  provider: t('at an identity provider'),
  totp: t('by an authenticator app'),
  recovery: t('by a recovery code'),
}

const CHANNELS: Record<string, string> = { email: t('by email'), sms: t('by text message') }

const SESSION_ENDS: Record<string, string> = {
  LOGOUT: t('the user signed out'),
  REVOKED: t('it was revoked'),
  LOCKED: t('the user was locked'),
  DELETED: t('the user was deleted'),
  EXPIRED: t('it expired'),
}

/** Events of a user whose detail needs no words of its own. */
const PLAIN: Record<string, string> = {
  'user.updated': t('Changed'),
  'user.locked': t('Locked'),
  'user.unlocked': t('Unlocked'),
  'user.limits_reset': t('The limits of codes were reset'),
  'user.deletion_canceled': t('Keeps the account'),
  'session.started': t('Signed in'),
  'session.reauthenticated': t('Signed in again'),
  'credential.enrollment_canceled': t('Canceled the link to add a passkey'),
  'idpuser.added': t('An identity was linked by a call'),
  'idpuser.linked': t('Linked an identity'),
  'idpuser.unlinked': t('An identity was unlinked'),
  'management_role.created': t('A management role was defined'),
  'management_role.updated': t('A management role was changed'),
  'management_role.deleted': t('A management role was deleted'),
  'organization.created': t('An organization was created'),
  'organization.updated': t('An organization was changed'),
  'organization.setup_created': t('A link to set an organization up was created'),
  'organization.setup_revoked': t('A link to set an organization up was revoked'),
  'membership.created': t('Is a member now'),
  'membership.updated': t('A membership was changed'),
  'organization_domain.created': t('A domain was added'),
  'organization_domain.updated': t('A domain was changed'),
  'organization_domain.deleted': t('A domain was deleted'),
  'organization_domain.verified': t('A domain was proven'),
  'organization_domain.expiring': t('A domain lost its record and is lost soon'),
  'organization_domain.expired': t('A domain is not proven any more'),
  'app_role.updated': t('A role at APIs was changed'),
  'app_role.deleted': t('A role at APIs was deleted'),
  'idp.created': t('An identity provider was added'),
  'idp.updated': t('An identity provider was changed'),
  'idp.deleted': t('An identity provider was deleted'),
  'membership.deleted': t('Is no member any more'),
  'api.created': t('An API was created'),
  'app_role.created': t('A role at APIs was created'),
  'group.created': t('A group was created'),
  'group.updated': t('A group was changed'),
  'group.deleted': t('A group was deleted'),
  'signal_stream.created': t('A stream of shared signals was created'),
  'signal_stream.updated': t('A stream of shared signals was changed'),
  'signal_stream.subject_changed': t('A stream of shared signals left a user out, or has the user again'),
  'signal_stream.verified': t('A verification was sent to a stream of shared signals'),
  'signal_stream.failing': t('The receiver of a stream of shared signals fails'),
  'signal_stream.recovered': t('The receiver of a stream of shared signals answers again'),
  'signal_stream.disabled': t('A stream of shared signals was disabled after three days of failures'),
  'signal_stream.deleted': t('A stream of shared signals was deleted'),
  'idp.signals_secret_rotated': t('The secret for shared signals of an identity provider was replaced'),
  'idp.signal_received': t('An identity provider sent a shared signal'),
  'idpuser.disabled': t('The identity provider disabled the account there'),
  'idpuser.enabled': t('The identity provider enabled the account there again'),
  'webhook.created': t('A webhook was created'),
  'webhook.updated': t('A webhook was changed'),
  'webhook.deleted': t('A webhook was deleted'),
  'webhook.secret_rotated': t('The secret of a webhook was replaced'),
  'webhook.replayed': t('A webhook continues after another position of the log'),
  'webhook.tested': t('A test was sent to a webhook'),
  'webhook.redelivered': t('A message of a webhook was sent again'),
  'webhook.failed_redelivered': t('Failed messages of a webhook were sent again'),
  'tenant.delivery_failing': t('A server for messages fails'),
  'tenant.delivery_recovered': t('A server for messages works again'),
  'webhook.failing': t('The receiver of a webhook fails'),
  'webhook.recovered': t('The receiver of a webhook answers again'),
  'webhook.disabled': t('A webhook was disabled after three days of failures'),
  'api_key.created': t('An API key was created'),
  'api_key.updated': t('An API key was changed'),
  'api_key.rotated': t('An API key was replaced'),
  'api_key.revoked': t('An API key was revoked'),
  'invitation.created': t('A person was invited'),
  'invitation.resent': t('An invitation was sent again'),
  'invitation.revoked': t('An invitation was revoked'),
  'invitation.accepted': t('Accepted an invitation'),
}

const JOBS: Record<string, string> = {
  lock: t('Lock'),
  unlock: t('Unlock'),
  'end-sessions': t('End sessions'),
  delete: t('Delete'),
  'revoke-client-access': t('Revoke all access'),
}

const CREDENTIALS: Record<string, string> = {
  totp: t('An authenticator app'),
  'recovery-codes': t('A set of recovery codes'),
}

const join = (what: string, why: string | undefined): string => (why ? `${what}: ${why}` : what)

/** What happened in words, for the types that people ask about; undefined for the others. */
export function describeEvent({
  typeName,
  detail,
  reason,
}: Pick<eventList_event$data, 'typeName' | 'detail' | 'reason'>): string | undefined {
  const read = (name: string) => (typeof detail?.[name] === 'string' ? detail[name] : '')
  const channel = CHANNELS[read('channel')]
  switch (typeName) {
    case 'signin.failed': {
      const method = METHODS[read('method')] ?? ''
      const why = SIGN_IN_FAILURES[read('reason')] ?? CODE_FAILURES[read('reason')] ?? read('reason')
      const diagnosis = ['error', 'cause', 'diagnostics'].map(read).filter(Boolean).join(', ')
      const what = channel
        ? t('A sign-in {method} that was sent {channel} failed', { method, channel })
        : t('A sign-in {method} failed', { method })
      const text = join(what.replace('  ', ' '), why)
      return diagnosis ? `${text} (${diagnosis})` : text
    }
    case 'passcode.failed':
      return CODE_FAILURES[read('reason')]
        ? join(t('A code was not sent'), CODE_FAILURES[read('reason')])
        : t('A wrong code was entered')
    case 'passcode.sent':
      return t('A code was sent {channel}', { channel: channel ?? '' }).trim()
    case 'idpuser.link_failed':
      return join(t('An identity was not linked'), LINK_FAILURES[read('reason')])
    case 'session.ended':
      return join(t('The session ended'), SESSION_ENDS[reason ?? ''])
    case 'user.created':
      return read('origin')
        ? read('origin') === 'sign-up'
          ? t('Created by a sign-up')
          : t('Created by an invitation')
        : t('Created')
    case 'user.deletion_requested':
      return t('Asked to be deleted on {due_at}', { due_at: read('due_at').slice(0, 10) })
    case 'role.changed':
      return read('roles')
        ? t('Has the roles {roles} now', { roles: read('roles') })
        : t('Has no role any more')
    case 'user.app_roles_changed':
    case 'membership.app_roles_changed':
    case 'group.app_roles_changed':
    case 'client.app_roles_changed':
      return [
        read('added') && t('Got the roles at APIs {roles}', { roles: read('added') }),
        read('removed') && t('Lost the roles at APIs {roles}', { roles: read('removed') }),
      ]
        .filter(Boolean)
        .join(' · ')
    case 'membership.role_claim_ignored':
      return t('Values of the claim of roles were ignored: {ignored}', { ignored: read('ignored') })
    case 'group.members_added':
      return tCount(Number(detail?.users), '{count} member was added', '{count} members were added')
    case 'group.members_removed':
      return tCount(Number(detail?.users), '{count} member was removed', '{count} members were removed')
    case 'credential.enrolled':
      return t('{credential} was added', { credential: CREDENTIALS[read('type')] ?? t('A passkey') })
    case 'credential.revoked':
      return t('{credential} was removed', { credential: CREDENTIALS[read('type')] ?? t('A passkey') })
    case 'bulk_job.started':
      return t('A change of {users} users was started: {action}', {
        users: Number(detail?.users),
        action: JOBS[read('action')] ?? t('Roles'),
      })
    case 'bulk_job.progressed':
      return t('A change of many users goes on: {done} are done, {failed} could not be changed', {
        done: Number(detail?.done),
        failed: Number(detail?.failed),
      })
    case 'bulk_job.finished':
      return t('A change of many users ended: {done} are done, {failed} could not be changed', {
        done: Number(detail?.done),
        failed: Number(detail?.failed),
      })
    case 'invitation.failed':
      return t('An invitation could not be delivered')
    default:
      return PLAIN[typeName]
  }
}
