import { type MessageFrame, type RichMail, toMail } from '../mail-content.ts'
import {
  createHelpParts,
  listFooterLinks,
  listRequestFacts,
  type RequestSource,
  toSentenceName,
} from './shared-words.ts'

/** Builds the notice of a recovery code that was used for a sign-in. */
export function buildRecoveryCodeNotice(
  frame: MessageFrame,
  { remaining, source }: { remaining: number; source: RequestSource },
): RichMail {
  const { text } = frame.words
  const tenant = toSentenceName(frame)
  const left = text('recoveryUsed.left', { count: remaining })
  return toMail(frame, {
    subject: text('recoveryUsed.subject', { tenant }),
    preheader: `${left} ${text('message.getHelp')}`,
    heading: text('recoveryUsed.title'),
    parts: [
      { kind: 'text', text: `${text('recoveryUsed.text', { tenant })} ${left}` },
      { kind: 'facts', facts: listRequestFacts(source, frame.words) },
      ...createHelpParts(frame),
    ],
    footer: listFooterLinks(frame),
  })
}
