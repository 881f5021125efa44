import type { Words } from '../languages/translations.ts'
import type { Brand } from '../model/brand.ts'
import type { TextOverride } from '../model/text-override.ts'
import { closeSentences } from './close-sentences.ts'
import type { MailSender } from './sender.ts'

/** The tenant that a message is from. */
export type MessageTenant = Brand &
  MailSender & {
    name: string
    logoUrl: string | null
    darkLogoUrl?: string | null
    supportUrl: string | null
    termsUrl?: string | null
    privacyUrl?: string | null
    defaultLocale?: string | null
    textOverrides?: readonly TextOverride[]
  }

/** The tenant that a message is from, and the words of the language that its reader has. */
export type MessageFrame = { tenant: MessageTenant; words: Words }

/** A label and its value, such as "Browser" and "Chrome on Linux". */
export type MailFact = readonly [label: string, value: string]

/** A part of a mail, from top to bottom. `href` is an http or https URL. */
export type MailPart =
  | { kind: 'text' | 'code' | 'aside'; text: string }
  | { kind: 'link'; text: string; href: string; hint: string }
  | { kind: 'facts'; facts: readonly MailFact[] }

/** What a mail says. Names are cleaned and isolated. */
export type MailContent = {
  subject: string
  /** What lists of mails show after the subject. */
  preheader: string
  heading: string
  parts: readonly MailPart[]
  /** The links below the mail, with their texts. */
  footer: readonly { text: string; href: string }[]
}

/** A mail as text, and the content from which its HTML is rendered. */
export type RichMail = MailContent & { text: string; tenant: MessageTenant } & Pick<
    Words,
    'language' | 'direction'
  >

function toText(part: MailPart): string {
  switch (part.kind) {
    case 'link':
      return `${part.text}:\n${part.href}`
    case 'facts':
      return part.facts.map(([label, value]) => `${label}: ${value}`).join('\n')
    default:
      return part.text
  }
}

/** Builds a mail. Its text has what the HTML shows: heading, parts and links. */
export function toMail({ tenant, words }: MessageFrame, content: MailContent): RichMail {
  const { language, direction } = words
  const preheader = closeSentences(content.preheader)
  const parts = content.parts.map((part) => ({
    ...part,
    ...('text' in part && { text: closeSentences(part.text) }),
  }))
  const texts = parts.map(toText).filter((text) => text !== '')
  const links = content.footer.map(({ text, href }) => `${text}: ${href}`)
  const text = `${[content.heading, ...texts, ...links].join('\n\n')}\n`
  return { ...content, preheader, parts, tenant, language, direction, text }
}
