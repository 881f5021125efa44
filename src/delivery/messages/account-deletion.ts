import type { Message } from '../deliver-message.ts'
import { type MailPart, type MessageFrame, toMail } from '../mail-content.ts'
import {
  createLink,
  formatTime,
  listFooterLinks,
  listRequestFacts,
  type RequestSource,
  toSentenceName,
} from './shared-words.ts'

/** Who asked for it, and the URL of the page on which the user keeps the account. */
type DeletionRequest = { source: RequestSource; uri: string }

const buildNotice = (
  frame: MessageFrame,
  {
    sentence,
    preheader,
    parts,
    lines,
  }: { sentence: string; preheader: string; parts: MailPart[]; lines: string[] },
): Message => ({
  sms: [frame.words.text('message.sentence', { text: sentence }), ...lines].join('\n'),
  mail: toMail(frame, {
    subject: sentence,
    preheader,
    heading: sentence,
    parts,
    footer: listFooterLinks(frame),
  }),
})

/** Builds the notice that an account will be deleted after `dueAt`, with the way to keep it. */
export function buildDeletionNotice(
  frame: MessageFrame,
  { dueAt, source, uri }: DeletionRequest & { dueAt: Date },
): Message {
  const { words } = frame
  const { text } = words
  const date = text('deletion.date', { time: formatTime(dueAt, words) })
  const advice = text('deletion.advice')
  return buildNotice(frame, {
    sentence: text('deletion.subject', { tenant: toSentenceName(frame) }),
    preheader: text('deletion.preheader'),
    parts: [
      { kind: 'text', text: date },
      { kind: 'facts', facts: listRequestFacts(source, words) },
      { kind: 'text', text: advice },
      createLink(text('deletion.keep'), uri, words),
    ],
    lines: [date, advice, uri],
  })
}

/** Builds the notice that an account will not be deleted after all. */
export function buildDeletionCanceledNotice(frame: MessageFrame, { source, uri }: DeletionRequest): Message {
  const { words } = frame
  const { text } = words
  const withdrawn = text('deletion.canceledText')
  return buildNotice(frame, {
    sentence: text('deletion.canceled', { tenant: toSentenceName(frame) }),
    preheader: withdrawn,
    parts: [
      { kind: 'text', text: withdrawn },
      { kind: 'facts', facts: listRequestFacts(source, words) },
      createLink(text('changed.check'), uri, words),
    ],
    lines: [withdrawn, text('changed.checkAt', { link: uri })],
  })
}

/** Builds the notice that an account was deleted. */
export function buildDeletedNotice(frame: MessageFrame): Message {
  const { text } = frame.words
  const done = text('deletion.doneText')
  return buildNotice(frame, {
    sentence: text('deletion.done', { tenant: toSentenceName(frame) }),
    preheader: done,
    parts: [{ kind: 'text', text: done }],
    lines: [done],
  })
}
