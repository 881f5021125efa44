import { type MessageTenant, type RichMail, toMail } from '../mail-content.ts'
import { cleanName } from '../names.ts'
import { composeSms } from '../sms-segment.ts'
import { createLink, listFooterLinks, toSentenceName } from './shared-words.ts'

/** The content of a message with an enrollment link. `uri` is valid once. */
export type EnrollmentText = { tenant: MessageTenant; uri: string; lifetimeHours: number }

/** Builds the mail with an enrollment link. */
export function buildEnrollmentMail({ tenant, uri, lifetimeHours }: EnrollmentText): RichMail {
  const name = toSentenceName(tenant)
  const lifetime = `It can be used once and expires in ${lifetimeHours} hours.`
  return toMail(tenant, {
    subject: `Create your passkey for ${name}`,
    preheader: `The link can be used once and expires in ${lifetimeHours} hours.`,
    heading: 'Create your passkey',
    parts: [
      { kind: 'text', text: `Open this link to create a passkey for ${name} on your device. ${lifetime}` },
      createLink('Create your passkey', uri),
      {
        kind: 'aside',
        text: 'If you did not expect this, ignore this message. Do not share the link with anyone.',
      },
    ],
    footer: listFooterLinks(tenant),
  })
}

/** Builds the text message with an enrollment link. */
export const buildEnrollmentSms = ({ tenant, uri, lifetimeHours }: EnrollmentText): string =>
  composeSms(
    [cleanName(tenant.name)],
    [
      {
        keep: 20,
        write: (name) => `Create your passkey for ${name}: ${uri} Expires in ${lifetimeHours} hours.`,
      },
      { keep: 6, write: (name) => `Create your passkey for ${name}: ${uri}` },
      { keep: 0, write: () => `Create your passkey: ${uri}` },
    ],
  )
