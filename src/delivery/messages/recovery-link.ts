import type { Message } from '../deliver-message.ts'
import { type MessageTenant, toMail } from '../mail-content.ts'
import { createLink, formatTime, listFooterLinks, toSentenceName } from './shared-words.ts'

/** Builds the announcement of a link by which an administrator gives a user access again. */
export function buildRecoveryNotice(
  tenant: MessageTenant,
  { uri, usableAt }: { uri: string; usableAt: Date },
): Message {
  const name = toSentenceName(tenant)
  const sentence = `An administrator of ${name} made a link that creates a new passkey for your account.`
  const start = `It works from ${formatTime(usableAt)}.`
  const choice = 'If you asked for it, you need not do anything. If not, cancel it:'
  return {
    sms: `${sentence} ${start} ${choice}\n\n${uri}\n`,
    mail: toMail(tenant, {
      subject: `Someone asked for a new way into your account at ${name}`,
      preheader: `${start} If you did not ask for it, cancel it.`,
      heading: 'Did you ask for a new passkey?',
      parts: [
        { kind: 'text', text: `${sentence} ${start}` },
        { kind: 'text', text: choice },
        createLink('Cancel the link', uri),
      ],
      footer: listFooterLinks(tenant),
    }),
  }
}
