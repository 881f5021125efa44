import type { RichMail } from '../../src/delivery/mail-content.ts'
import { buildAccountNotice } from '../../src/delivery/messages/account-changed.ts'
import { buildChangeNotice } from '../../src/delivery/messages/address-changed.ts'
import { buildAddressMessage } from '../../src/delivery/messages/address-code.ts'
import { buildEnrollmentMail } from '../../src/delivery/messages/enrollment-link.ts'
import { buildInvitationMail } from '../../src/delivery/messages/invitation.ts'
import { buildPasscodeMail } from '../../src/delivery/messages/passcode.ts'
import { buildRecoveryCodeNotice } from '../../src/delivery/messages/recovery-code-used.ts'
import { buildRecoveryNotice } from '../../src/delivery/messages/recovery-link.ts'
import { buildGuessNotice } from '../../src/delivery/messages/wrong-codes.ts'

export const messageTenant = { name: 'Acme', logoUrl: null, supportUrl: 'https://acme.example/help' }

/** A request of a known browser and place. */
export const source = {
  browser: 'Chrome on Linux',
  place: 'Zurich, Switzerland',
  requestedAt: new Date('2026-11-23T06:58:00Z'),
}

export const sentCode = { code: '012345', lifetimeMinutes: 10 }

/** The sign-in of a client that an administrator created. */
export const requestingSignIn = {
  ...source,
  clientName: 'Portal' as string | null,
  isManagedClient: true,
  host: 'id.example.com',
}

export const MAIL_LINK = `https://id.example.com/acme/enroll?token=${'x'.repeat(43)}`

const accountNotice = {
  change: 'public-key-added' as const,
  isByAdministrator: false,
  source,
  uri: MAIL_LINK,
}

/** Every kind of mail, with `text` in each place that a user, a tenant or a client can fill in. */
export function mailsWith(
  text: string,
  tenant: RichMail['tenant'] = { ...messageTenant, name: text },
): Record<string, RichMail> {
  const given = { tenant, ...sentCode }
  const signIn = { ...requestingSignIn, clientName: text }
  const link = { tenant, uri: MAIL_LINK }
  const time = source.requestedAt
  return {
    'sign-in': buildPasscodeMail({ ...given, signIn }),
    'long-code': buildPasscodeMail({ ...given, code: '12345 67890', signIn }),
    'sign-up': buildPasscodeMail({ ...given, signIn, isSignUp: true }),
    'api-code': buildPasscodeMail({ ...given, signIn: null }),
    'address-code': buildAddressMessage({ ...given, source }).mail,
    'address-changed': buildChangeNotice(tenant, 'e-mail address', source).mail,
    'account-changed': buildAccountNotice(tenant, accountNotice).mail,
    'account-changed-by-administrator': buildAccountNotice(tenant, {
      ...accountNotice,
      isByAdministrator: true,
    }).mail,
    'wrong-codes': buildGuessNotice(tenant, source).mail,
    'recovery-code-used': buildRecoveryCodeNotice(tenant, { remaining: 9, source }),
    'recovery-link': buildRecoveryNotice(tenant, { uri: MAIL_LINK, usableAt: time }).mail,
    enrollment: buildEnrollmentMail({ ...link, lifetimeHours: 24 }),
    invitation: buildInvitationMail({ ...link, inviterName: text, clientName: text, expiresAt: time }),
  }
}
