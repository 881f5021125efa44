import type { RichMail } from '../../src/delivery/mail-content.ts'
import { buildSampleMails } from '../../src/server/preview/sample-mails.ts'

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

/** Every kind of mail, with `text` in each place that a user, a tenant or a client can fill in. */
export const mailsWith = (
  text: string,
  tenant: RichMail['tenant'] = { ...messageTenant, name: text },
): Record<string, RichMail> =>
  buildSampleMails(tenant, {
    clientName: text,
    userName: text,
    uri: MAIL_LINK,
    time: source.requestedAt,
  })
