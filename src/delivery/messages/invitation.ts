import { type MessageFrame, type RichMail, toMail } from '../mail-content.ts'
import { cleanClientName, isolateName } from '../names.ts'
import { createLink, formatTime, listFooterLinks, toSentenceName } from './shared-words.ts'

/** The content of a message with an invitation. `uri` is valid once, until `expiresAt`. */
export type InvitationText = MessageFrame & {
  /** The name of the user who invites. */
  inviterName: string | null
  /** The name of the client that the person continues to. */
  clientName: string | null
  uri: string
  expiresAt: Date
}

/** Builds the mail with an invitation. */
export function buildInvitationMail(invitation: InvitationText): RichMail {
  const { words, uri, expiresAt } = invitation
  const { text } = words
  const tenant = toSentenceName(invitation)
  // Users choose their names.
  const inviter = isolateName(cleanClientName(invitation.inviterName ?? ''), words.direction)
  const client = isolateName(cleanClientName(invitation.clientName ?? ''), words.direction)
  const time = formatTime(expiresAt, words)
  const title = text('invited.title', { tenant })
  const subject = inviter ? text('invited.titleFrom', { inviter, tenant }) : title
  const sentences = [
    text('message.sentence', { text: subject }),
    client && text('invited.client', { client }),
    text('invited.lead', { time }),
  ]
  return toMail(invitation, {
    subject,
    preheader: text('invited.preheader', { time }),
    heading: title,
    parts: [
      { kind: 'text', text: sentences.filter(Boolean).join(' ') },
      createLink(text('invited.link'), uri, words),
      { kind: 'aside', text: text('message.unexpectedLink') },
    ],
    footer: listFooterLinks(invitation),
  })
}
