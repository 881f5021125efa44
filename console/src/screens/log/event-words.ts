import type { eventList_event$data } from '../../generated/eventList_event.graphql.ts'

/** Why a sign-in failed, by `reason`. */
const SIGN_IN_FAILURES: Record<string, string> = {
  locked: 'the user is locked',
  unknown: 'no user has this address or passkey',
  unverified: 'the address is not verified, and the user has another one that is',
  wrong: 'the code was wrong',
  expired: 'the code had expired',
  exhausted: 'too many wrong codes were entered, so that the code no longer counts',
  rejected: 'the response could not be verified',
  cloned: 'the counter of the passkey went back, as that of a copy does',
  eligibility: 'the passkey says something else about its backup than when it was created',
  canceled: 'the user canceled at the identity provider',
  refused: 'the identity provider refused the sign-in',
  unavailable: 'the identity provider did not respond',
  misconfigured: 'the configuration is wrong, here or at the identity provider',
}

/** Why a message with a code was not sent, or a code was of no use, by `reason`. */
const CODE_FAILURES: Record<string, string> = {
  delivery: 'the message could not be delivered',
  taken: 'another user has the new address',
  country: 'text messages are not sent to the country of the number',
  daily: 'the text messages of the day are used up',
  prefix: 'too many text messages went to similar numbers',
}

const LINK_FAILURES: Record<string, string> = {
  linked: 'the user has another identity of the provider',
  taken: 'another user has this identity',
  deleted: 'the user or the provider was deleted',
  changed: 'the provider was changed meanwhile',
}

const METHODS: Record<string, string> = {
  passcode: 'by a code',
  passkey: 'by a passkey',
  provider: 'at an identity provider',
  totp: 'by an authenticator app',
  recovery: 'by a recovery code',
}

const CHANNELS: Record<string, string> = { email: 'by email', sms: 'by text message' }

const SESSION_ENDS: Record<string, string> = {
  LOGOUT: 'the user signed out',
  REVOKED: 'it was revoked',
  LOCKED: 'the user was locked',
  DELETED: 'the user was deleted',
  EXPIRED: 'it expired',
}

/** Events of a user whose detail needs no words of its own. */
const PLAIN: Record<string, string> = {
  'user.updated': 'Changed',
  'user.locked': 'Locked',
  'user.unlocked': 'Unlocked',
  'user.limits_reset': 'The limits of codes were reset',
  'user.deletion_canceled': 'Keeps the account',
  'session.started': 'Signed in',
  'session.reauthenticated': 'Signed in again',
  'credential.enrollment_canceled': 'Canceled the link to add a passkey',
  'idpuser.added': 'An identity was linked by a call',
  'idpuser.linked': 'Linked an identity',
  'idpuser.unlinked': 'An identity was unlinked',
  'invitation.created': 'A person was invited',
  'invitation.resent': 'An invitation was sent again',
  'invitation.revoked': 'An invitation was revoked',
  'invitation.accepted': 'Accepted an invitation',
}

const CREDENTIALS: Record<string, string> = {
  totp: 'An authenticator app',
  'recovery-codes': 'A set of recovery codes',
}

const join = (what: string, why: string | undefined): string => (why ? `${what}: ${why}` : what)

/** What happened in words, for the types that people ask about; undefined for the others. */
export function describeEvent({ typeName, detail, reason }: eventList_event$data): string | undefined {
  const read = (name: string) => (typeof detail?.[name] === 'string' ? detail[name] : '')
  const channel = CHANNELS[read('channel')]
  switch (typeName) {
    case 'signin.failed': {
      const method = METHODS[read('method')] ?? ''
      const why = SIGN_IN_FAILURES[read('reason')] ?? CODE_FAILURES[read('reason')] ?? read('reason')
      const diagnosis = ['error', 'cause', 'diagnostics'].map(read).filter(Boolean).join(', ')
      const sentBy = channel ? ` that was sent ${channel}` : ''
      const text = join(`A sign-in ${method}${sentBy} failed`.replace('  ', ' '), why)
      return diagnosis ? `${text} (${diagnosis})` : text
    }
    case 'passcode.failed':
      return CODE_FAILURES[read('reason')]
        ? join('A code was not sent', CODE_FAILURES[read('reason')])
        : 'A wrong code was entered'
    case 'passcode.sent':
      return `A code was sent ${channel ?? ''}`.trim()
    case 'idpuser.link_failed':
      return join('An identity was not linked', LINK_FAILURES[read('reason')])
    case 'session.ended':
      return join('The session ended', SESSION_ENDS[reason ?? ''])
    case 'user.created':
      return read('origin')
        ? `Created by ${read('origin') === 'sign-up' ? 'a sign-up' : 'an invitation'}`
        : 'Created'
    case 'user.deletion_requested':
      return `Asked to be deleted on ${read('due_at').slice(0, 10)}`
    case 'role.changed':
      return read('roles') ? `Has the roles ${read('roles')} now` : 'Has no role any more'
    case 'credential.enrolled':
      return `${CREDENTIALS[read('type')] ?? 'A passkey'} was added`
    case 'credential.revoked':
      return `${CREDENTIALS[read('type')] ?? 'A passkey'} was removed`
    case 'invitation.failed':
      return 'An invitation could not be delivered'
    default:
      return PLAIN[typeName]
  }
}
