import { formatWait } from '../../languages/waiting-time.ts'
import { type MessageFrame, type RichMail, toMail } from '../mail-content.ts'
import { cleanName } from '../names.ts'
import { composeSms } from '../sms-segment.ts'
import { createLink, listFooterLinks, toSentenceName } from './shared-words.ts'

/** The content of a message with an enrollment link. `uri` is valid once. */
export type EnrollmentText = MessageFrame & { uri: string; lifetimeHours: number }

const formatHours = ({ lifetimeHours, words }: EnrollmentText): string =>
  formatWait(lifetimeHours * 3600, words)

/** Builds the mail with an enrollment link. */
export function buildEnrollmentMail(given: EnrollmentText): RichMail {
  const { text } = given.words
  const tenant = toSentenceName(given)
  const lifetime = text('message.lifetime', { wait: formatHours(given) })
  return toMail(given, {
    subject: text('enrollMail.subject', { tenant }),
    preheader: lifetime,
    heading: text('enroll.title'),
    parts: [
      { kind: 'text', text: `${text('enrollMail.text', { tenant })} ${lifetime}` },
      createLink(text('enroll.title'), given.uri, given.words),
      { kind: 'aside', text: text('message.unexpectedLink') },
    ],
    footer: listFooterLinks(given),
  })
}

/** Builds the text message with an enrollment link. */
export function buildEnrollmentSms(given: EnrollmentText): string {
  const { tenant, uri: link, words } = given
  const lead = (name = '') => words.text('sms.enroll', { tenant: name, link })
  const expires = words.text('message.expires', { wait: formatHours(given) })
  return composeSms([cleanName(tenant.name)], words.direction, [
    { keep: 20, write: (name) => `${lead(name)} ${expires}` },
    { keep: 6, write: lead },
    { keep: 0, write: () => words.text('sms.enrollShort', { link }) },
  ])
}
