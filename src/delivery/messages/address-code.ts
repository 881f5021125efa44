import type { Message } from '../deliver-message.ts'
import { toMail } from '../mail-content.ts'
import { buildCodeSms, createCodeParts, type SentCode } from './code-words.ts'
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
  const { tenant, code, lifetimeMinutes, source } = given
  const name = toSentenceName(tenant)
  const mail = toMail(tenant, {
    subject: `${code} is your code to confirm your address for ${name}`,
    preheader: `It expires in ${lifetimeMinutes} minutes. Requested${describeSource(source)}.`,
    heading: 'Confirm your address',
    parts: [
      ...createCodeParts(`Enter this code to make this your address at ${name}:`, given),
      { kind: 'facts', facts: listRequestFacts(source) },
      {
        kind: 'aside',
        text: 'If you did not request this, ignore this message. Do not share the code with anyone: it would link your address to another account.',
      },
    ],
    footer: listFooterLinks(tenant),
  })
  return { mail, sms: buildCodeSms(given, 'to make this your number at') }
}
