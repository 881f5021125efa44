import { type MessageTenant, type RichMail, toMail } from '../mail-content.ts'
import { cleanClientName, isolateName } from '../names.ts'
import { createLink, formatTime, listFooterLinks, toSentenceName } from './shared-words.ts'

/** The content of a message with an invitation. `uri` is valid once, until `expiresAt`. */
export type InvitationText = {
  tenant: MessageTenant
  /** The name of the user who invites. */
  inviterName: string | null
  /** The name of the client that the person continues to. */
  clientName: string | null
  uri: string
  expiresAt: Date
}

/** Builds the mail with an invitation. */
export function buildInvitationMail(invitation: InvitationText): RichMail {
  const { tenant, uri, expiresAt } = invitation
  const name = toSentenceName(tenant)
  // Users choose their names.
  const inviter = isolateName(cleanClientName(invitation.inviterName ?? ''))
  const client = isolateName(cleanClientName(invitation.clientName ?? ''))
  const subject = inviter ? `${inviter} invites you to ${name}` : `You are invited to ${name}`
  const lifetime = `It can be used once and expires on ${formatTime(expiresAt)}.`
  return toMail(tenant, {
    subject,
    preheader: `Accept the invitation until ${formatTime(expiresAt)}.`,
    heading: `You are invited to ${name}`,
    parts: [
      {
        kind: 'text',
        text: `${subject}${client && `, to use ${client}`}. Open this link to accept. ${lifetime}`,
      },
      createLink('See the invitation', uri),
      {
        kind: 'aside',
        text: 'If you did not expect this, ignore this message. Do not share the link with anyone.',
      },
    ],
    footer: listFooterLinks(tenant),
  })
}
