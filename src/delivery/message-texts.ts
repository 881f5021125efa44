import type { MailPart, RichMail } from './mail.ts'

/** The content of a message with a code. `tenantName` is the display name of the tenant. */
export type PasscodeText = { tenantName: string; code: string; lifetimeMinutes: number }

/** Removes line breaks and control characters, so that a name cannot start another line or a header. */
const cleanTenantName = (tenantName: string): string =>
  tenantName.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()

/** The purpose of a code: to sign in, or to verify a new address of a signed-in user. */
type PasscodePurpose = 'sign-in' | 'address'

const buildPasscodeTexts = (
  { tenantName, code, lifetimeMinutes }: PasscodeText,
  purpose: PasscodePurpose,
) => {
  const name = cleanTenantName(tenantName)
  const texts = {
    'sign-in': {
      subject: `Your code for ${name}`,
      lead: `Your code for ${name}:`,
      sms: `is your code for ${name}.`,
      ignore: 'If you did not request a code, ignore this message. Do not share the code with anyone.',
    },
    address: {
      subject: `Confirm your address for ${name}`,
      lead: `Your code to make this your address at ${name}:`,
      sms: `is your code to make this your number at ${name}.`,
      ignore:
        'If you did not request this, ignore this message. Do not share the code with anyone: it would link your address to another account.',
    },
  }
  return {
    ...texts[purpose],
    code,
    lifetime: `It can be used once and expires in ${lifetimeMinutes} minutes.`,
  }
}

/** Builds a mail: its text consists of the text of each part, and the URL of a link. */
const toMail = (subject: string, parts: MailPart[]): RichMail => ({
  subject,
  text: `${parts.map(({ text, href }) => href ?? text).join('\n\n')}\n`,
  parts,
})

/** Builds the mail with a passcode. */
export function buildPasscodeMail(passcode: PasscodeText, purpose: PasscodePurpose = 'sign-in'): RichMail {
  const { subject, lead, code, lifetime, ignore } = buildPasscodeTexts(passcode, purpose)
  return toMail(subject, [
    { text: lead },
    { text: code, style: 'code' },
    { text: lifetime },
    { text: ignore, style: 'aside' },
  ])
}

/** Builds the text message with a passcode. The code comes first, where a notification shows it. */
export function buildPasscodeSms(passcode: PasscodeText, purpose: PasscodePurpose = 'sign-in'): string {
  const { code, sms, lifetime } = buildPasscodeTexts(passcode, purpose)
  return `${code} ${sms} ${lifetime}`
}

/** The content of a notice about a changed address. It names neither the old nor the new address. */
export type ChangeNoticeText = {
  tenantName: string
  what: 'e-mail address' | 'phone number'
  supportUrl: string | null
}

/** Builds the notice of a changed address: a subject for mail, and the text for both channels. */
export function buildChangeNotice({ tenantName, what, supportUrl }: ChangeNoticeText): {
  subject: string
  text: string
} {
  const name = cleanTenantName(tenantName)
  const help = supportUrl ? `get help at ${supportUrl}` : `contact ${name} immediately`
  return {
    subject: `Your ${what} at ${name} was changed`,
    text: `The ${what} of your account at ${name} was changed. If this was not you, ${help}.\n`,
  }
}

/** Builds the notice of wrong codes that were entered: a subject for mail, and the text for both channels. */
export function buildGuessNotice({ tenantName, supportUrl }: Omit<ChangeNoticeText, 'what'>): {
  subject: string
  text: string
} {
  const name = cleanTenantName(tenantName)
  const help = supportUrl ? ` If you need help: ${supportUrl}` : ''
  return {
    subject: `Wrong codes were entered for your account at ${name}`,
    text: `Several wrong codes were entered for your account at ${name}. None of them was accepted. For a day, new codes have ten digits, except in browsers in which you signed in before. If it was you, request a new code. Otherwise, you need not do anything. Do not share codes with anyone.${help}\n`,
  }
}

/** The content of a message with an enrollment link. `uri` is valid once. */
export type EnrollmentText = { tenantName: string; uri: string; lifetimeHours: number }

const buildEnrollmentTexts = ({ tenantName, lifetimeHours }: EnrollmentText) => {
  const name = cleanTenantName(tenantName)
  return {
    subject: `Create your passkey for ${name}`,
    lead: `Open this link to create a passkey for ${name} on your device:`,
    button: 'Create your passkey',
    lifetime: `It can be used once and expires in ${lifetimeHours} hours.`,
    ignore: 'If you did not expect this, ignore this message. Do not share the link with anyone.',
  }
}

/** Builds the mail with an enrollment link. */
export function buildEnrollmentMail(text: EnrollmentText): RichMail {
  const { subject, lead, button, lifetime, ignore } = buildEnrollmentTexts(text)
  return toMail(subject, [
    { text: lead },
    { text: button, style: 'link', href: text.uri },
    { text: lifetime },
    { text: ignore, style: 'aside' },
  ])
}

/** Builds the text message with an enrollment link. */
export function buildEnrollmentSms(text: EnrollmentText): string {
  const { subject, lifetime } = buildEnrollmentTexts(text)
  return `${subject}: ${text.uri} ${lifetime}`
}
