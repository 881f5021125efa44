import type { Message } from '../deliver-message.ts'
import { toMail } from '../mail-content.ts'
import { buildCodeSms, createCodeParts, formatMinutes, type SentCode } from './code-words.ts'
import {
  describeSource,
  listFooterLinks,
  listRequestFacts,
  type RequestSource,
  toSentenceName,
} from './shared-words.ts'

/** The content of a message with a code that makes an address the user's own. */
export type AddressCodeText = SentCode & { source: RequestSource }

/** Builds the message with a code that makes an address or a phone number the user's own. */
export function buildAddressMessage(given: AddressCodeText): Message {
  const { words, code, source } = given
  const { text } = words
  const tenant = toSentenceName(given)
  const mail = toMail(given, {
    subject: text('addressCode.subject', { code, tenant }),
    preheader: [text('message.expires', { wait: formatMinutes(given) }), describeSource(source, words)]
      .filter(Boolean)
      .join(' '),
    heading: text('addressCode.title'),
    parts: [
      ...createCodeParts(text('addressCode.lead', { tenant }), given),
      { kind: 'facts', facts: listRequestFacts(source, words) },
      { kind: 'aside', text: text('addressCode.aside') },
    ],
    footer: listFooterLinks(given),
  })
  return { mail, sms: buildCodeSms(given, 'sms.addressCode') }
}
