import type { Place } from '../../core/network/ip-location.ts'
import { describeBrowser } from '../../languages/browser.ts'
import { describePlace } from '../../languages/location.ts'
import type { Words } from '../../languages/translations.ts'
import type { MailContent, MailFact, MailPart, MessageFrame } from '../mail-content.ts'
import { cleanName, isolateName } from '../names.ts'

/** A time as messages show it. */
export const formatTime = (time: Date, words: Words): string =>
  words.text('account.utc', { time: words.formatTime(time, 'long', 'UTC') })

/** The name of the tenant in a sentence. */
export const toSentenceName = ({ tenant, words }: MessageFrame): string =>
  isolateName(cleanName(tenant.name), words.direction)

/** Where a request came from. What is null is unknown. */
export type RequestSource = { userAgent: string | null; place: Place | null; requestedAt: Date }

/** The facts of a request that its user can recognize, or not. */
export function listRequestFacts(
  { userAgent, place, requestedAt }: RequestSource,
  words: Words,
  client = '',
): MailFact[] {
  const facts: [string, string | null][] = [
    [words.text('fact.application'), client],
    [words.text('fact.browser'), describeBrowser(userAgent, words)],
    [words.text('fact.place'), describePlace(place, words)],
    [words.text('fact.time'), formatTime(requestedAt, words)],
  ]
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]))
}

/** The browser and the place of a request in one line; empty when both are unknown. */
export const describeSource = ({ userAgent, place }: RequestSource, words: Words): string =>
  [describeBrowser(userAgent, words), describePlace(place, words)].filter(Boolean).join(' · ')

/** A link as a button. Below it, the mail shows the URL. */
export const createLink = (text: string, href: string, words: Words): MailPart => ({
  kind: 'link',
  text,
  href,
  hint: words.text('message.buttonHint'),
})

/** The way to report a change that was not the user's own. */
export const createHelpParts = (frame: MessageFrame): MailPart[] => {
  const { tenant, words } = frame
  const text = tenant.supportUrl
    ? words.text('message.getHelp')
    : words.text('message.contact', { tenant: toSentenceName(frame) })
  return [{ kind: 'text', text }]
}

/** The links below every mail of a tenant. */
export function listFooterLinks({ tenant, words }: MessageFrame): MailContent['footer'] {
  const links: [text: string, href: string | null | undefined][] = [
    [words.text('page.help'), tenant.supportUrl],
    [words.text('terms.title'), tenant.termsUrl],
    [words.text('terms.privacy'), tenant.privacyUrl],
  ]
  return links.flatMap(([text, href]) => (href ? [{ text, href }] : []))
}
