import type { Message } from '../deliver-message.ts'
import { type MessageTenant, toMail } from '../mail-content.ts'
import {
  createHelpParts,
  listFooterLinks,
  listRequestFacts,
  type RequestSource,
  toSentenceName,
} from './shared-words.ts'

/** What changed about the user's account. */
export type ChangedAddress = 'e-mail address' | 'phone number'

/** Builds the notice of a changed address. It names neither the old nor the new address. */
export function buildChangeNotice(
  tenant: MessageTenant,
  what: ChangedAddress,
  source: RequestSource,
): Message {
  const name = toSentenceName(tenant)
  const sentence = `The ${what} of your account at ${name} was changed.`
  const help = tenant.supportUrl ? `get help at ${tenant.supportUrl}` : `contact ${name} immediately`
  return {
    sms: `${sentence} If this was not you, ${help}.`,
    mail: toMail(tenant, {
      subject: `Your ${what} at ${name} was changed`,
      preheader: 'If this was not you, get help immediately.',
      heading: `Your ${what} was changed`,
      parts: [
        { kind: 'text', text: sentence },
        { kind: 'facts', facts: listRequestFacts(source) },
        ...createHelpParts(tenant),
      ],
      footer: listFooterLinks(tenant),
    }),
  }
}
