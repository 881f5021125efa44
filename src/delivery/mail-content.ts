/** The tenant that a message is from. */
export type MessageTenant = { name: string; logoUrl: string | null; supportUrl: string | null }

/** A paragraph of an HTML mail; with `href`, a link. */
export type MailPart = { text: string; style?: 'plain' | 'code' | 'link' | 'aside'; href?: string }

/** A mail as text, and the tenant and the parts from which its HTML is rendered. */
export type RichMail = { subject: string; text: string; tenant: MessageTenant; parts: readonly MailPart[] }

/** Builds a mail: its text consists of the text of each part, and the URL of a link. */
export const toMail = (tenant: MessageTenant, subject: string, parts: readonly MailPart[]): RichMail => ({
  subject,
  text: `${parts.map(({ text, href }) => href ?? text).join('\n\n')}\n`,
  tenant,
  parts,
})
