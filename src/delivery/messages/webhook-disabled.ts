import { type MessageFrame, type RichMail, toMail } from '../mail-content.ts'
import { cleanName, isolateName } from '../names.ts'
import { createLink, listFooterLinks, toSentenceName } from './shared-words.ts'

/** Builds the mail about a webhook that was disabled, to somebody who can mend it. `host` is that of its receiver. */
export function buildWebhookNotice(
  frame: MessageFrame,
  { host, uri }: { host: string; uri: string },
): RichMail {
  const { text } = frame.words
  const subject = text('webhookDisabled.subject', { tenant: toSentenceName(frame) })
  const advice = text('webhookDisabled.advice', {
    host: isolateName(cleanName(host), frame.words.direction),
  })
  return toMail(frame, {
    subject,
    preheader: advice,
    heading: subject,
    parts: [{ kind: 'text', text: advice }, createLink(text('webhookDisabled.check'), uri, frame.words)],
    footer: listFooterLinks(frame),
  })
}
