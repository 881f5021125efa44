import { type MessageFrame, type RichMail, toMail } from '../mail-content.ts'
import {
  createLink,
  listFooterLinks,
  listRequestFacts,
  type RequestSource,
  toSentenceName,
} from './shared-words.ts'

/** Builds the notice of a sign-in from a browser in which the user did not sign in before. */
export function buildNewDeviceNotice(
  frame: MessageFrame,
  { source, uri }: { source: RequestSource; uri: string },
): RichMail {
  const { text } = frame.words
  const subject = text('newDevice.subject', { tenant: toSentenceName(frame) })
  return toMail(frame, {
    subject,
    preheader: text('changed.preheader'),
    heading: subject,
    parts: [
      { kind: 'facts', facts: listRequestFacts(source, frame.words) },
      { kind: 'text', text: text('newDevice.advice') },
      createLink(text('newDevice.check'), uri, frame.words),
    ],
    footer: listFooterLinks(frame),
  })
}
