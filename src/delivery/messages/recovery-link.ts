import { closeSentences } from '../close-sentences.ts'
import type { Message } from '../deliver-message.ts'
import { type MessageFrame, toMail } from '../mail-content.ts'
import { createLink, formatTime, listFooterLinks, toSentenceName } from './shared-words.ts'

/** Builds the announcement of a link by which an administrator gives a user access again. */
export function buildRecoveryNotice(
  frame: MessageFrame,
  { uri, usableAt }: { uri: string; usableAt: Date },
): Message {
  const { words } = frame
  const { text } = words
  const tenant = toSentenceName(frame)
  const sentence = text('recoveryLink.text', { tenant })
  const start = text('recoveryLink.start', { time: formatTime(usableAt, words) })
  const choice = text('recoveryLink.choice')
  return {
    sms: `${closeSentences(`${sentence} ${start} ${choice}`)}\n\n${uri}\n`,
    mail: toMail(frame, {
      subject: text('recoveryLink.subject', { tenant }),
      preheader: `${start} ${text('recoveryLink.preheader')}`,
      heading: text('recoveryLink.title'),
      parts: [
        { kind: 'text', text: `${sentence} ${start}` },
        { kind: 'text', text: choice },
        createLink(text('enroll.cancel'), uri, words),
      ],
      footer: listFooterLinks(frame),
    }),
  }
}
