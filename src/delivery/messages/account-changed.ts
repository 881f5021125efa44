import type { CredentialType } from '../../model/credential-types.ts'
import type { Message } from '../deliver-message.ts'
import { type MailPart, type MessageFrame, toMail } from '../mail-content.ts'
import {
  createLink,
  describeSource,
  formatTime,
  listFooterLinks,
  listRequestFacts,
  type RequestSource,
  toSentenceName,
} from './shared-words.ts'

/** What was changed about how a user signs in. */
export type AccountChange =
  | `${CredentialType}-${'added' | 'removed'}`
  | 'identity-linked'
  | 'identity-unlinked'

/** A change, who made it, and the URL of the account page on which the user undoes it. */
export type AccountNotice = {
  change: AccountChange
  isByAdministrator: boolean
  source: RequestSource
  uri: string
}

const createSourceParts = (
  { isByAdministrator, source }: AccountNotice,
  { words }: MessageFrame,
): MailPart[] =>
  isByAdministrator
    ? [
        {
          kind: 'text',
          text: words.text('changed.byAdministrator', { time: formatTime(source.requestedAt, words) }),
        },
      ]
    : [{ kind: 'facts', facts: listRequestFacts(source, words) }]

function describeAuthor({ isByAdministrator, source }: AccountNotice, { words }: MessageFrame): string {
  const time = formatTime(source.requestedAt, words)
  if (isByAdministrator) return words.text('changed.byAdministrator', { time })
  return [describeSource(source, words), time].filter(Boolean).join(' · ')
}

/** Builds the notice of a way to sign in that was added or removed. */
export function buildAccountNotice(frame: MessageFrame, notice: AccountNotice): Message {
  const { text } = frame.words
  const sentence = text(`changed.${notice.change}`, { tenant: toSentenceName(frame) })
  return {
    sms: [
      text('message.sentence', { text: sentence }),
      describeAuthor(notice, frame),
      text('changed.checkAt', { link: notice.uri }),
    ].join('\n'),
    mail: toMail(frame, {
      subject: sentence,
      preheader: text('changed.preheader'),
      heading: sentence,
      parts: [
        ...createSourceParts(notice, frame),
        { kind: 'text', text: text('changed.advice') },
        createLink(text('changed.check'), notice.uri, frame.words),
      ],
      footer: listFooterLinks(frame),
    }),
  }
}
