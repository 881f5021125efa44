import type { Message } from '../deliver-message.ts'
import { type MessageFrame, toMail } from '../mail-content.ts'
import { listFooterLinks, toSentenceName } from './shared-words.ts'

/** Builds the message with which an administrator tests the servers of the tenant. */
export function buildTestMessage(frame: MessageFrame): Message {
  const { text } = frame.words
  const subject = text('testMessage.subject', { tenant: toSentenceName(frame) })
  const body = text('testMessage.text')
  return {
    sms: subject,
    mail: toMail(frame, {
      subject,
      preheader: body,
      heading: subject,
      parts: [{ kind: 'text', text: body }],
      footer: listFooterLinks(frame),
    }),
  }
}
