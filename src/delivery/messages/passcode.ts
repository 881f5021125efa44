import { type MailPart, type MessageTenant, type RichMail, toMail } from '../mail-content.ts'
import { cleanClientName, cleanName, isolateName } from '../names.ts'
import { composeSms } from '../sms-segment.ts'
import { buildCodeSms, createCodeParts } from './code-words.ts'
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
export type PasscodeText = {
  tenant: MessageTenant
  code: string
  lifetimeMinutes: number
  signIn: RequestingSignIn | null
  /** The address has no user: the code creates one. */
  isSignUp?: boolean
}

const NO_SIGN_IN = 'nobody can sign in without the code.'
const NO_ACCOUNT = 'no account is created without the code.'
const IGNORE = 'If this was not you, ignore this message:'

/** The words of a mail with a code, by what the code is for. */
function selectWords({ tenant, signIn, isSignUp }: PasscodeText, client: string) {
  const name = toSentenceName(tenant)
  if (!signIn)
    return {
      heading: `Your code for ${name}`,
      lead: 'Enter this code where you were asked for it:',
      aside: 'If you did not request a code, ignore this message.',
    }
  if (isSignUp)
    return {
      heading: `Create your account at ${name}`,
      lead: `Enter this code to create your account${client && ` and continue to ${client}`}:`,
      aside: `${IGNORE} ${NO_ACCOUNT}`,
    }
  return {
    heading: `Sign in to ${client || name}`,
    lead: client
      ? `Enter this code to sign in to ${client} with your account at ${name}:`
      : 'Enter this code to sign in:',
    aside: `${IGNORE} ${NO_SIGN_IN}`,
  }
}

/**
 * Builds the mail with a passcode to sign in or to sign up. The code is in the subject, where a notification
 * shows it, with the name of the client if an administrator chose it.
 */
export function buildPasscodeMail(passcode: PasscodeText): RichMail {
  const { tenant, code, signIn } = passcode
  const name = toSentenceName(tenant)
  const client = isolateName(cleanClientName(signIn?.clientName ?? ''))
  const { heading, lead, aside } = selectWords(passcode, client)
  const isNamed = client !== '' && client !== name && signIn?.isManagedClient
  const facts: MailPart[] = signIn ? [{ kind: 'facts', facts: listRequestFacts(signIn, client) }] : []
  return toMail(tenant, {
    subject: `${code} is your code for ${isNamed ? `${client} (${name})` : name}`,
    preheader: `It expires in ${passcode.lifetimeMinutes} minutes. ${signIn ? `Requested${describeSource(signIn)}.` : ''}`,
    heading,
    parts: [
      ...createCodeParts(lead, passcode),
      ...facts,
      { kind: 'aside', text: `${aside} Do not share the code with anyone.` },
    ],
    footer: listFooterLinks(tenant),
  })
}

/**
 * The last line of a text message that binds the code to the site on which it is entered: phones offer it on
 * no other ("Origin-bound one-time codes delivered via SMS", WICG).
 */
const bindToHost = (text: string, code: string, host: string): string =>
  `${text}\n@${host} #${code.replace(' ', '')}`

function buildSignInSms({ tenant, code }: PasscodeText, { clientName, host }: RequestingSignIn): string {
  const names = [cleanName(tenant.name), cleanClientName(clientName ?? '')]
  const lead = (name?: string, client?: string) =>
    `${code} is your code for ${name}${client && ` to sign in to ${client}`}.`
  const bind = (text: string) => bindToHost(text, code, host)
  return composeSms(names, [
    { keep: 20, write: (...given) => bind(`${lead(...given)} ${IGNORE} ${NO_SIGN_IN}`) },
    { keep: 20, write: (...given) => bind(`${lead(...given)} Not you? Ignore this message.`) },
    { keep: 12, write: (...given) => bind(lead(...given)) },
    { keep: 6, write: (...given) => bind(`${code}: ${given.filter(Boolean).join(', ')}`) },
    { keep: 0, write: () => bind(`${code} is your code.`) },
  ])
}

/** Builds the text message with a passcode to sign in. */
export const buildPasscodeSms = (passcode: PasscodeText): string =>
  passcode.signIn ? buildSignInSms(passcode, passcode.signIn) : buildCodeSms(passcode, 'for')
