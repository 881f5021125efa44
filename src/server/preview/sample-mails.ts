import type { MessageFrame, RichMail } from '../../delivery/mail-content.ts'
import { buildAccountNotice } from '../../delivery/messages/account-changed.ts'
import {
  buildDeletedNotice,
  buildDeletionCanceledNotice,
  buildDeletionNotice,
} from '../../delivery/messages/account-deletion.ts'
import { buildChangeNotice } from '../../delivery/messages/address-changed.ts'
import { buildAddressMessage } from '../../delivery/messages/address-code.ts'
import { buildEnrollmentMail } from '../../delivery/messages/enrollment-link.ts'
import { buildInvitationMail } from '../../delivery/messages/invitation.ts'
import { buildNewDeviceNotice } from '../../delivery/messages/new-device.ts'
import { buildPasscodeMail } from '../../delivery/messages/passcode.ts'
import { buildRecoveryCodeNotice } from '../../delivery/messages/recovery-code-used.ts'
import { buildRecoveryNotice } from '../../delivery/messages/recovery-link.ts'
import { buildTestMessage } from '../../delivery/messages/test-message.ts'
import { buildWebhookNotice } from '../../delivery/messages/webhook-disabled.ts'
import { buildGuessNotice } from '../../delivery/messages/wrong-codes.ts'

/** What the mails of a sample contain: the names of a client and of a user, a link and a time. */
export type MailSample = { clientName: string; userName: string; uri: string; time: Date }

const SAMPLE_USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'
const SAMPLE_PLACE = {
  cityNames: { en: 'Zurich', de: 'Zürich', ja: 'チューリッヒ', zh: '苏黎世', es: 'Zúrich', it: 'Zurigo' },
  countryCode: 'CH',
}

/** Every kind of mail of a tenant, by name. */
export function buildSampleMails(frame: MessageFrame, sample: MailSample): Record<string, RichMail> {
  const { clientName, userName, uri, time } = sample
  const source = { userAgent: SAMPLE_USER_AGENT, place: SAMPLE_PLACE, requestedAt: time }
  const given = { ...frame, code: '012345', lifetimeMinutes: 10 }
  const signIn = { ...source, clientName, isManagedClient: true, host: new URL(uri).hostname }
  const change = { change: 'public-key-added', isByAdministrator: false, source, uri } as const
  return {
    'sign-in': buildPasscodeMail({ ...given, signIn }),
    'long-code': buildPasscodeMail({ ...given, code: '12345 67890', signIn }),
    'sign-up': buildPasscodeMail({ ...given, signIn, isSignUp: true }),
    'api-code': buildPasscodeMail({ ...given, signIn: null }),
    'address-code': buildAddressMessage({ ...given, source }).mail,
    'address-changed': buildChangeNotice(frame, 'email', source).mail,
    'account-changed': buildAccountNotice(frame, change).mail,
    'account-changed-by-administrator': buildAccountNotice(frame, { ...change, isByAdministrator: true })
      .mail,
    'account-deletion': buildDeletionNotice(frame, { dueAt: time, source, uri }).mail,
    'account-kept': buildDeletionCanceledNotice(frame, { source, uri }).mail,
    'account-deleted': buildDeletedNotice(frame).mail,
    'wrong-codes': buildGuessNotice(frame, source).mail,
    'recovery-code-used': buildRecoveryCodeNotice(frame, { remaining: 9, source }),
    'new-device': buildNewDeviceNotice(frame, { source, uri }),
    'recovery-link': buildRecoveryNotice(frame, { uri, usableAt: time }).mail,
    'webhook-disabled': buildWebhookNotice(frame, { host: signIn.host, uri }),
    'test-message': buildTestMessage(frame).mail,
    enrollment: buildEnrollmentMail({ ...frame, uri, lifetimeHours: 24 }),
    invitation: buildInvitationMail({ ...frame, uri, inviterName: userName, clientName, expiresAt: time }),
  }
}
