import type { CredentialType } from '../core/credential-types.ts'
import { type MessageTenant, type RichMail, toMail } from './mail-content.ts'
import { cleanName, isolateName } from './names.ts'

/** What was changed about how a user signs in. */
export type AccountChange =
  | `${CredentialType}-${'added' | 'removed'}`
  | 'identity-linked'
  | 'identity-unlinked'

/** Who changed it, and when. What is null is unknown. */
export type ChangeOrigin = {
  isAdministrator: boolean
  browser: string | null
  place: string | null
  at: Date
}

const CHANGES: Record<AccountChange, (name: string) => string> = {
  'public-key-added': (name) => `A passkey was added to your account at ${name}`,
  'public-key-removed': (name) => `A passkey was removed from your account at ${name}`,
  'totp-added': (name) => `An authenticator app was added to your account at ${name}`,
  'totp-removed': (name) => `The authenticator app was removed from your account at ${name}`,
  'recovery-codes-added': (name) => `New recovery codes were created for your account at ${name}`,
  'recovery-codes-removed': (name) => `The recovery codes were removed from your account at ${name}`,
  'identity-linked': (name) => `An account elsewhere was linked to your account at ${name}`,
  'identity-unlinked': (name) => `An account elsewhere was unlinked from your account at ${name}`,
}

const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

function describeOrigin({ isAdministrator, browser, place, at }: ChangeOrigin): string {
  const time = `on ${TIME.format(at)} UTC`
  if (isAdministrator) return `An administrator did this ${time}.`
  return ['This was done', browser && ` from ${browser}`, place && ` near ${place},`, ` ${time}.`]
    .filter(Boolean)
    .join('')
}

/** Builds the notice of a changed way to sign in; its text serves both channels. `uri` is that of the account page. */
export function buildAccountNotice(
  tenant: MessageTenant,
  { change, origin, uri }: { change: AccountChange; origin: ChangeOrigin; uri: string },
): RichMail {
  const name = isolateName(cleanName(tenant.name))
  const subject = CHANGES[change](name)
  const help = tenant.supportUrl ? ` If you cannot sign in, get help at ${tenant.supportUrl}.` : ''
  return toMail(tenant, subject, [
    { text: `${subject}. ${describeOrigin(origin)}` },
    {
      text: 'If this was you, you need not do anything. If not, check how your account can be signed in to:',
    },
    { text: 'Check your account', style: 'link', href: uri },
    { text: `Remove what you do not know, and sign out everywhere.${help}`, style: 'aside' },
  ])
}
