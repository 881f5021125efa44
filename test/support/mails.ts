import type { RichMail } from '../../src/delivery/mail-content.ts'
import { getWords, type Words } from '../../src/languages/translations.ts'
import { buildSampleMails } from '../../src/server/preview/sample-mails.ts'

export const messageTenant = { name: 'Acme', logoUrl: null, supportUrl: 'https://acme.example/help' }

/** The frame of messages of the tenant in English. */
export const messageFrame = { tenant: messageTenant, words: getWords('en') }

/** A request of a known browser and place. */
export const source = {
  userAgent:
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  place: { cityNames: { en: 'Zurich', de: 'Zürich', 'pt-BR': 'Zurique' }, countryCode: 'CH' },
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
  words: Words = messageFrame.words,
): Record<string, RichMail> =>
  buildSampleMails(
    { tenant, words },
    {
      clientName: text,
      userName: text,
      uri: MAIL_LINK,
      time: source.requestedAt,
    },
  )
