import type { MessageTenant, RichMail } from '../../delivery/mail-content.ts'
import { buildAccountNotice } from '../../delivery/messages/account-changed.ts'
import { buildChangeNotice } from '../../delivery/messages/address-changed.ts'
import { buildAddressMessage } from '../../delivery/messages/address-code.ts'
import { buildEnrollmentMail } from '../../delivery/messages/enrollment-link.ts'
import { buildInvitationMail } from '../../delivery/messages/invitation.ts'
import { buildPasscodeMail } from '../../delivery/messages/passcode.ts'
import { buildRecoveryCodeNotice } from '../../delivery/messages/recovery-code-used.ts'
import { buildRecoveryNotice } from '../../delivery/messages/recovery-link.ts'
import { buildGuessNotice } from '../../delivery/messages/wrong-codes.ts'

/** What the mails of a sample contain: the names of a client and of a user, a link and a time. */
export type MailSample = { clientName: string; userName: string; uri: string; time: Date }

/** Every kind of mail of a tenant, by name. */
export function buildSampleMails(tenant: MessageTenant, sample: MailSample): Record<string, RichMail> {
  const { clientName, userName, uri, time } = sample
  const source = { browser: 'Chrome on Linux', place: 'Zurich, Switzerland', requestedAt: time }
  const given = { tenant, code: '012345', lifetimeMinutes: 10 }
  const signIn = { ...source, clientName, isManagedClient: true, host: new URL(uri).hostname }
  const change = { change: 'public-key-added', isByAdministrator: false, source, uri } as const
  return {
    'sign-in': buildPasscodeMail({ ...given, signIn }),
    'long-code': buildPasscodeMail({ ...given, code: '12345 67890', signIn }),
    'sign-up': buildPasscodeMail({ ...given, signIn, isSignUp: true }),
    'api-code': buildPasscodeMail({ ...given, signIn: null }),
    'address-code': buildAddressMessage({ ...given, source }).mail,
    'address-changed': buildChangeNotice(tenant, 'e-mail address', source).mail,
    'account-changed': buildAccountNotice(tenant, change).mail,
    'account-changed-by-administrator': buildAccountNotice(tenant, { ...change, isByAdministrator: true })
      .mail,
    'wrong-codes': buildGuessNotice(tenant, source).mail,
    'recovery-code-used': buildRecoveryCodeNotice(tenant, { remaining: 9, source }),
    'recovery-link': buildRecoveryNotice(tenant, { uri, usableAt: time }).mail,
    enrollment: buildEnrollmentMail({ tenant, uri, lifetimeHours: 24 }),
    invitation: buildInvitationMail({ tenant, uri, inviterName: userName, clientName, expiresAt: time }),
  }
}
