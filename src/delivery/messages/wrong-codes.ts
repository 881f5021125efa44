import type { Message } from '../deliver-message.ts'
import { type MessageTenant, toMail } from '../mail-content.ts'
import { listFooterLinks, listRequestFacts, type RequestSource, toSentenceName } from './shared-words.ts'

const EFFECT =
  'None of them was accepted. For a day, new codes have ten digits, except in browsers in which you signed in before.'
const ADVICE =
  'If it was you, request a new code. Otherwise, you need not do anything. Do not share codes with anyone.'

/** Builds the notice of wrong codes that were entered; `source` is that of the last one. */
export function buildGuessNotice(tenant: MessageTenant, source: RequestSource): Message {
  const name = toSentenceName(tenant)
  const sentence = `Several wrong codes were entered for your account at ${name}.`
  const help = tenant.supportUrl ? ` If you need help: ${tenant.supportUrl}` : ''
  return {
    sms: `${sentence} ${EFFECT} ${ADVICE}${help}`,
    mail: toMail(tenant, {
      subject: `Wrong codes were entered for your account at ${name}`,
      preheader: 'None of them was accepted. You need not do anything.',
      heading: 'Wrong codes were entered',
      parts: [
        { kind: 'text', text: `${sentence} ${EFFECT}` },
        { kind: 'facts', facts: listRequestFacts(source) },
        { kind: 'text', text: ADVICE },
      ],
      footer: listFooterLinks(tenant),
    }),
  }
}
