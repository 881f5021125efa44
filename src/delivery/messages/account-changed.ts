import type { CredentialType } from '../../core/credential-types.ts'
import type { Message } from '../deliver-message.ts'
import { type MailPart, type MessageTenant, toMail } from '../mail-content.ts'
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

/** What changed, and how a sentence goes on: "… your account". */
const CHANGES: Record<AccountChange, [heading: string, relation: string]> = {
  'public-key-added': ['A passkey was added', 'to'],
  'public-key-removed': ['A passkey was removed', 'from'],
  'totp-added': ['An authenticator app was added', 'to'],
  'totp-removed': ['The authenticator app was removed', 'from'],
  'recovery-codes-added': ['New recovery codes were created', 'for'],
  'recovery-codes-removed': ['The recovery codes were removed', 'from'],
  'identity-linked': ['An account elsewhere was linked', 'to'],
  'identity-unlinked': ['An account elsewhere was unlinked', 'from'],
}

const createSourceParts = ({ isByAdministrator, source }: AccountNotice): MailPart[] =>
  isByAdministrator
    ? [{ kind: 'text', text: `An administrator did this on ${formatTime(source.requestedAt)}.` }]
    : [{ kind: 'facts', facts: listRequestFacts(source) }]

const describeAuthor = ({ isByAdministrator, source }: AccountNotice): string =>
  `${isByAdministrator ? 'by an administrator' : describeSource(source).trim()} on ${formatTime(source.requestedAt)}`.trim()

/** Builds the notice of a way to sign in that was added or removed. */
export function buildAccountNotice(tenant: MessageTenant, notice: AccountNotice): Message {
  const [heading, relation] = CHANGES[notice.change]
  const sentence = `${heading} ${relation} your account at ${toSentenceName(tenant)}`
  return {
    sms: `${sentence} ${describeAuthor(notice)}. If this was not you, check your account: ${notice.uri}`,
    mail: toMail(tenant, {
      subject: sentence,
      preheader: 'If this was not you, check your account.',
      heading,
      parts: [
        { kind: 'text', text: `${sentence}.` },
        ...createSourceParts(notice),
        {
          kind: 'text',
          text: 'If this was you, you need not do anything. If not, remove what you do not know and sign out everywhere:',
        },
        createLink('Check your account', notice.uri),
      ],
      footer: listFooterLinks(tenant),
    }),
  }
}
