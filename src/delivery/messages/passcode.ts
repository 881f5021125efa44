import { closeSentences } from '../close-sentences.ts'
import { type MailPart, type RichMail, toMail } from '../mail-content.ts'
import { cleanClientName, cleanName, isolateName } from '../names.ts'
import { composeSms } from '../sms-segment.ts'
import { buildCodeSms, createCodeParts, formatMinutes, type SentCode } from './code-words.ts'
import {
  describeSource,
  listFooterLinks,
  listRequestFacts,
  type RequestSource,
  toSentenceName,
} from './shared-words.ts'

/** The sign-in on a hosted page for which a code was requested. What is null is unknown. */
export type RequestingSignIn = RequestSource & {
  clientName: string | null
  /** Whether an administrator created the client. Others choose their names themselves. */
  isManagedClient: boolean
  /** The host of the page on which the code is entered. */
  host: string
}

/** The content of a message with a code. `signIn` is null for a code that no hosted page requested. */
export type PasscodeText = SentCode & {
  signIn: RequestingSignIn | null
  /** The address has no user: the code creates one. */
  isSignUp?: boolean
}

/** The words of a mail with a code, by what the code is for. */
function selectTexts(passcode: PasscodeText, client: string) {
  const { words, signIn, isSignUp } = passcode
  const { text } = words
  const tenant = toSentenceName(passcode)
  if (!signIn)
    return {
      heading: text('passcode.title', { tenant }),
      lead: text('passcode.lead'),
      aside: text('passcode.aside'),
    }
  if (isSignUp)
    return {
      heading: text('passcode.signUpTitle', { tenant }),
      lead: client ? text('passcode.signUpLeadTo', { client }) : text('passcode.signUpLead'),
      aside: text('passcode.signUpAside'),
    }
  return {
    heading: text('passcode.signInTitle', { name: client || tenant }),
    lead: client ? text('passcode.signInLeadTo', { client, tenant }) : text('passcode.signInLead'),
    aside: text('passcode.signInAside'),
  }
}

/**
 * Builds the mail with a passcode to sign in or to sign up. The code is in the subject, where a notification
 * shows it, with the name of the client if an administrator chose it.
 */
export function buildPasscodeMail(passcode: PasscodeText): RichMail {
  const { words, code, signIn } = passcode
  const tenant = toSentenceName(passcode)
  const client = isolateName(cleanClientName(signIn?.clientName ?? ''), words.direction)
  const { heading, lead, aside } = selectTexts(passcode, client)
  const isNamed = client !== '' && client !== tenant && signIn?.isManagedClient
  const facts: MailPart[] = signIn ? [{ kind: 'facts', facts: listRequestFacts(signIn, words, client) }] : []
  const expiry = words.text('message.expires', { wait: formatMinutes(passcode) })
  return toMail(passcode, {
    subject: words.text('passcode.subject', { code, name: isNamed ? `${client} (${tenant})` : tenant }),
    preheader: [expiry, signIn && describeSource(signIn, words)].filter(Boolean).join(' '),
    heading,
    parts: [...createCodeParts(lead, passcode), ...facts, { kind: 'aside', text: aside }],
    footer: listFooterLinks(passcode),
  })
}

/**
 * The last line of a text message that binds the code to the site on which it is entered: phones offer it on
 * no other ("Origin-bound one-time codes delivered via SMS", WICG).
 */
const bindToHost = (text: string, code: string, host: string): string =>
  `${text}\n@${host} #${code.replace(' ', '')}`

function buildSignInSms(
  { tenant, words, code }: PasscodeText,
  { clientName, host }: RequestingSignIn,
): string {
  const { text, direction } = words
  const names = [cleanName(tenant.name), cleanClientName(clientName ?? '')]
  const lead = (name = '', client = '') =>
    client ? text('sms.codeTo', { code, tenant: name, client }) : text('sms.code', { code, tenant: name })
  const bind = (line: string) => bindToHost(closeSentences(line), code, host)
  return composeSms(names, direction, [
    { keep: 20, write: (...given) => bind(`${lead(...given)} ${text('sms.advice')}`) },
    { keep: 20, write: (...given) => bind(`${lead(...given)} ${text('sms.shortAdvice')}`) },
    { keep: 12, write: (...given) => bind(lead(...given)) },
    { keep: 6, write: (...given) => bind(`${code}: ${given.filter(Boolean).join(', ')}`) },
    { keep: 0, write: () => bind(text('sms.codeOnly', { code })) },
    // A long host leaves no room for another alphabet.
    { keep: 0, write: () => bind(code) },
  ])
}

/** Builds the text message with a passcode to sign in. */
export const buildPasscodeSms = (passcode: PasscodeText): string =>
  passcode.signIn ? buildSignInSms(passcode, passcode.signIn) : buildCodeSms(passcode, 'sms.code')
