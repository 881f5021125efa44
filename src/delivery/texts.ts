import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'

/** What a message about a code says. `tenantName` is what people know the tenant by. */
export type PasscodeText = { tenantName: string; code: string; lifetimeMinutes: number }

/** A name in a line of text: it cannot begin another line or a header. */
const nameIn = (tenantName: string): string => tenantName.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()

/** What a code is for: to sign in, or to make this the address of an account that somebody is signed in to. */
type Purpose = 'sign-in' | 'address'

const lines = ({ tenantName, code, lifetimeMinutes }: PasscodeText, purpose: Purpose) => {
  const name = nameIn(tenantName)
  const texts = {
    'sign-in': {
      subject: `Your code for ${name}`,
      lead: `Your code for ${name}:`,
      sms: `is your code for ${name}.`,
      ignore: 'You did not ask for a code? Then ignore this message, and tell the code to nobody.',
    },
    address: {
      subject: `Confirm your address for ${name}`,
      lead: `Your code to make this your address at ${name}:`,
      sms: `is your code to make this your number at ${name}.`,
      ignore:
        'You did not ask for this? Then ignore this message, and tell the code to nobody: it would give them an account with your address.',
    },
  }
  return { ...texts[purpose], code, lifetime: `It works once and expires in ${lifetimeMinutes} minutes.` }
}

/** The mail that carries a passcode. By preact, like all HTML here: a tenant's name is data, never markup. */
export function passcodeMail(
  passcode: PasscodeText,
  purpose: Purpose = 'sign-in',
): { subject: string; text: string; html: string } {
  const { subject, lead, code, lifetime, ignore } = lines(passcode, purpose)
  const html = h(
    'html',
    { lang: 'en' },
    h('head', null, h('meta', { charset: 'utf-8' }), h('title', null, subject)),
    h(
      'body',
      { style: 'font-family: sans-serif; line-height: 1.5' },
      h('p', null, lead),
      h('p', { style: 'font-size: 2em; font-weight: bold; letter-spacing: 0.2em' }, code),
      h('p', null, lifetime),
      h('p', { style: 'color: #666' }, ignore),
    ),
  )
  return {
    subject,
    text: `${lead}\n\n${code}\n\n${lifetime}\n\n${ignore}\n`,
    html: `<!doctype html>${renderToString(html)}`,
  }
}

/** The text message that carries a passcode; the code comes first, where a notification shows it. */
export function passcodeSms(passcode: PasscodeText, purpose: Purpose = 'sign-in'): string {
  const { code, sms, lifetime } = lines(passcode, purpose)
  return `${code} ${sms} ${lifetime}`
}

/** What tells a person that an address of their account is another now. It names neither the old nor the new one. */
export type ChangeNoticeText = {
  tenantName: string
  what: 'e-mail address' | 'phone number'
  supportUrl: string | null
}

/** The notice of a changed address, by whatever way: a subject for mail, and the text. */
export function changeNotice({ tenantName, what, supportUrl }: ChangeNoticeText): {
  subject: string
  text: string
} {
  const name = nameIn(tenantName)
  const help = supportUrl ? `get help at ${supportUrl}` : `turn to ${name} at once`
  return {
    subject: `Your ${what} at ${name} was changed`,
    text: `The ${what} of your account at ${name} was changed. Was it not you? Then ${help}.\n`,
  }
}

/** What a message with an enrolment link says. `uri` works once. */
export type EnrolmentText = { tenantName: string; uri: string; lifetimeHours: number }

const enrolmentLines = ({ tenantName, lifetimeHours }: EnrolmentText) => {
  const name = nameIn(tenantName)
  return {
    subject: `Create your passkey for ${name}`,
    lead: `Open this link to create a passkey for ${name} on your device:`,
    button: 'Create your passkey',
    lifetime: `It works once and expires in ${lifetimeHours} hours.`,
    ignore: 'You did not expect this? Then ignore this message, and give the link to nobody.',
  }
}

/** The mail that carries an enrolment link. */
export function enrolmentMail(text: EnrolmentText): { subject: string; text: string; html: string } {
  const { uri } = text
  const { subject, lead, button, lifetime, ignore } = enrolmentLines(text)
  const html = h(
    'html',
    { lang: 'en' },
    h('head', null, h('meta', { charset: 'utf-8' }), h('title', null, subject)),
    h(
      'body',
      { style: 'font-family: sans-serif; line-height: 1.5' },
      h('p', null, lead),
      h('p', null, h('a', { href: uri, style: 'font-size: 1.2em; font-weight: bold' }, button)),
      h('p', null, lifetime),
      h('p', { style: 'color: #666' }, ignore),
    ),
  )
  return {
    subject,
    text: `${lead}\n\n${uri}\n\n${lifetime}\n\n${ignore}\n`,
    html: `<!doctype html>${renderToString(html)}`,
  }
}

/** The text message that carries an enrolment link. */
export function enrolmentSms(text: EnrolmentText): string {
  const { subject, lifetime } = enrolmentLines(text)
  return `${subject}: ${text.uri} ${lifetime}`
}
