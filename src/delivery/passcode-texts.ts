import { type MailPart, type MessageTenant, type RichMail, toMail } from './mail-content.ts'
import { cleanClientName, cleanName, isolateName } from './names.ts'
import { composeSms } from './sms-segment.ts'

/** The sign-in on a hosted page for which a code was requested. What is null is unknown. */
export type RequestingSignIn = {
  clientName: string | null
  browser: string | null
  place: string | null
  requestedAt: Date
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

const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

/** From which browser and place, and when, the code was requested. */
const describeRequest = ({ browser, place, requestedAt }: RequestingSignIn): string =>
  [
    'It was requested',
    browser && ` from ${browser}`,
    place && ` near ${place},`,
    ` on ${TIME.format(requestedAt)} UTC.`,
  ]
    .filter(Boolean)
    .join('')

const toParts = (lead: string, { code, lifetimeMinutes }: PasscodeText, aside: string): MailPart[] => [
  { text: lead },
  { text: code, style: 'code' },
  { text: `It can be used once and expires in ${lifetimeMinutes} minutes.` },
  { text: aside, style: 'aside' },
]

const IGNORE_SIGN_IN = 'If this was not you, ignore this message: nobody can sign in without the code.'

const IGNORE_SIGN_UP = 'If this was not you, ignore this message: no account is created without the code.'

/** Builds the mail with a passcode to sign in or to sign up. The code is in the subject, where a notification shows it. */
export function buildPasscodeMail(passcode: PasscodeText): RichMail {
  const { tenant, code, signIn, isSignUp } = passcode
  const name = isolateName(cleanName(tenant.name))
  const client = isolateName(cleanClientName(signIn?.clientName ?? ''))
  const lead = isSignUp
    ? `Your code to create an account at ${name}${client && ` and continue to ${client}`}:`
    : `Your code for ${name}${client && ` to sign in to ${client}`}:`
  const ignoreHosted = isSignUp ? IGNORE_SIGN_UP : IGNORE_SIGN_IN
  const aside = signIn ? ignoreHosted : 'If you did not request a code, ignore this message.'
  const parts = toParts(lead, passcode, `${aside} Do not share the code with anyone.`)
  if (signIn) parts.splice(-1, 0, { text: describeRequest(signIn) })
  return toMail(tenant, `${code} is your code for ${name}`, parts)
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
    { keep: 20, write: (...given) => bind(`${lead(...given)} ${IGNORE_SIGN_IN}`) },
    { keep: 20, write: (...given) => bind(`${lead(...given)} Not you? Ignore this message.`) },
    { keep: 12, write: (...given) => bind(lead(...given)) },
    { keep: 6, write: (...given) => bind(`${code}: ${given.filter(Boolean).join(', ')}`) },
    { keep: 0, write: () => bind(`${code} is your code.`) },
  ])
}

/** Builds a text message in which the code comes first, where a notification shows it. */
function buildSms({ tenant, code, lifetimeMinutes }: PasscodeText, purpose: string): string {
  const lead = (name?: string) => `${code} is your code ${purpose} ${name}.`
  return composeSms(
    [cleanName(tenant.name)],
    [
      {
        keep: 20,
        write: (name) => `${lead(name)} It can be used once and expires in ${lifetimeMinutes} minutes.`,
      },
      { keep: 1, write: lead },
    ],
  )
}

/** Builds the text message with a passcode to sign in. */
export const buildPasscodeSms = (passcode: PasscodeText): string =>
  passcode.signIn ? buildSignInSms(passcode, passcode.signIn) : buildSms(passcode, 'for')

/** Builds the mail with a passcode that makes an address the user's own. */
export function buildAddressMail(passcode: PasscodeText): RichMail {
  const { tenant, code } = passcode
  const name = isolateName(cleanName(tenant.name))
  return toMail(
    tenant,
    `${code} is your code to confirm your address for ${name}`,
    toParts(
      `Your code to make this your address at ${name}:`,
      passcode,
      'If you did not request this, ignore this message. Do not share the code with anyone: it would link your address to another account.',
    ),
  )
}

/** Builds the text message with a passcode that makes a phone number the user's own. */
export const buildAddressSms = (passcode: PasscodeText): string =>
  buildSms(passcode, 'to make this your number at')
