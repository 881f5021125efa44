import type { MailContent, MailFact, MailPart, MessageTenant } from '../mail-content.ts'
import { cleanName, isolateName } from '../names.ts'

const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

/** A time as messages show it. */
export const formatTime = (time: Date): string => `${TIME.format(time)} UTC`

/** The name of the tenant in a sentence. */
export const toSentenceName = ({ name }: MessageTenant): string => isolateName(cleanName(name))

/** Where a request came from. What is null is unknown. */
export type RequestSource = { browser: string | null; place: string | null; requestedAt: Date }

/** The facts of a request that its user can recognize, or not. */
export function listRequestFacts({ browser, place, requestedAt }: RequestSource, client = ''): MailFact[] {
  const facts: [string, string | null][] = [
    ['Application', client],
    ['Browser', browser],
    ['Near', place],
    ['Time', formatTime(requestedAt)],
  ]
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]))
}

/** The browser and the place of a request, in words; empty when both are unknown. */
export const describeSource = ({ browser, place }: RequestSource): string =>
  [browser && ` from ${browser}`, place && ` near ${place}`].filter(Boolean).join('')

/** A link as a button. Below it, the mail shows the URL. */
export const createLink = (text: string, href: string): MailPart => ({
  kind: 'link',
  text,
  href,
  hint: 'If the button does not work, copy this address into your browser:',
})

/** The way to report a change that was not the user's own. */
export const createHelpParts = (tenant: MessageTenant): MailPart[] =>
  tenant.supportUrl
    ? [{ kind: 'text', text: 'If this was not you, get help immediately.' }]
    : [{ kind: 'text', text: `If this was not you, contact ${toSentenceName(tenant)} immediately.` }]

/** The links below every mail of a tenant. */
export function listFooterLinks({ supportUrl, termsUrl, privacyUrl }: MessageTenant): MailContent['footer'] {
  const links: [text: string, href: string | null | undefined][] = [
    ['Get help', supportUrl],
    ['Terms of use', termsUrl],
    ['Privacy policy', privacyUrl],
  ]
  return links.flatMap(([text, href]) => (href ? [{ text, href }] : []))
}
