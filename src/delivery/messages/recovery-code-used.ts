import { type MessageTenant, type RichMail, toMail } from '../mail-content.ts'
import {
  createHelpParts,
  listFooterLinks,
  listRequestFacts,
  type RequestSource,
  toSentenceName,
} from './shared-words.ts'

/** Builds the notice of a recovery code that was used for a sign-in. */
export function buildRecoveryCodeNotice(
  tenant: MessageTenant,
  { remaining, source }: { remaining: number; source: RequestSource },
): RichMail {
  const name = toSentenceName(tenant)
  const left = remaining === 1 ? 'One code is left.' : `${remaining || 'No'} codes are left.`
  return toMail(tenant, {
    subject: `A recovery code was used for your account at ${name}`,
    preheader: `${left} If this was not you, get help immediately.`,
    heading: 'A recovery code was used',
    parts: [
      { kind: 'text', text: `Someone signed in to your account at ${name} with a recovery code. ${left}` },
      { kind: 'facts', facts: listRequestFacts(source) },
      ...createHelpParts(tenant),
    ],
    footer: listFooterLinks(tenant),
  })
}
