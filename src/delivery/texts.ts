import type { MailPart, RichMail } from './mail.ts'

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

/** Words of a mail: the text of each part, a link by its address. */
const toMail = (subject: string, parts: MailPart[]): RichMail => ({
  subject,
  text: `${parts.map(({ text, href }) => href ?? text).join('\n\n')}\n`,
  parts,
})

/** The mail that carries a passcode. */
export function passcodeMail(passcode: PasscodeText, purpose: Purpose = 'sign-in'): RichMail {
  const { subject, lead, code, lifetime, ignore } = lines(passcode, purpose)
  return toMail(subject, [
    { text: lead },
    { text: code, look: 'code' },
    { text: lifetime },
    { text: ignore, look: 'aside' },
  ])
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
export function enrolmentMail(text: EnrolmentText): RichMail {
  const { subject, lead, button, lifetime, ignore } = enrolmentLines(text)
  return toMail(subject, [
    { text: lead },
    { text: button, look: 'link', href: text.uri },
    { text: lifetime },
    { text: ignore, look: 'aside' },
  ])
}

/** The text message that carries an enrolment link. */
export function enrolmentSms(text: EnrolmentText): string {
  const { subject, lifetime } = enrolmentLines(text)
  return `${subject}: ${text.uri} ${lifetime}`
}
