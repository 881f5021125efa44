import { closeSentences } from '../close-sentences.ts'
import type { Message } from '../deliver-message.ts'
import { type MessageFrame, toMail } from '../mail-content.ts'
import { listFooterLinks, listRequestFacts, type RequestSource, toSentenceName } from './shared-words.ts'

/** Builds the notice of wrong codes that were entered; `source` is that of the last one. */
export function buildGuessNotice(frame: MessageFrame, source: RequestSource): Message {
  const { tenant, words } = frame
  const { text } = words
  const name = toSentenceName(frame)
  const sentence = text('wrongCodes.text', { tenant: name })
  const [effect, advice] = [text('wrongCodes.effect'), text('wrongCodes.advice')]
  const help = tenant.supportUrl ? ` ${text('wrongCodes.help', { link: tenant.supportUrl })}` : ''
  return {
    sms: closeSentences(`${sentence} ${effect} ${advice}${help}`),
    mail: toMail(frame, {
      subject: text('wrongCodes.subject', { tenant: name }),
      preheader: text('wrongCodes.preheader'),
      heading: text('wrongCodes.title'),
      parts: [
        { kind: 'text', text: `${sentence} ${effect}` },
        { kind: 'facts', facts: listRequestFacts(source, words) },
        { kind: 'text', text: advice },
      ],
      footer: listFooterLinks(frame),
    }),
  }
}
