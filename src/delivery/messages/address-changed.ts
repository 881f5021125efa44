import type { Message } from '../deliver-message.ts'
import { type MessageFrame, toMail } from '../mail-content.ts'
import {
  createHelpParts,
  listFooterLinks,
  listRequestFacts,
  type RequestSource,
  toSentenceName,
} from './shared-words.ts'

/** What changed about the user's account. */
export type ChangedAddress = 'email' | 'phone'

/** Builds the notice of a changed address. It names neither the old nor the new address. */
export function buildChangeNotice(frame: MessageFrame, what: ChangedAddress, source: RequestSource): Message {
  const { tenant, words } = frame
  const { text } = words
  const name = toSentenceName(frame)
  const sentence = text(`changed.${what}`, { tenant: name })
  const help = tenant.supportUrl
    ? text('message.getHelpAt', { link: tenant.supportUrl })
    : text('message.contact', { tenant: name })
  return {
    sms: `${text('message.sentence', { text: sentence })}\n${help}`,
    mail: toMail(frame, {
      subject: sentence,
      preheader: text('message.getHelp'),
      heading: sentence,
      parts: [{ kind: 'facts', facts: listRequestFacts(source, words) }, ...createHelpParts(frame)],
      footer: listFooterLinks(frame),
    }),
  }
}
