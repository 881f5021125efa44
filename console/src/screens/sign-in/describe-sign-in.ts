import { findUnit, UNITS } from '../../parts/durations.ts'

/** The settings that decide what a person meets, with the enums of the schema. */
export type DescribedSettings = {
  signInMethods: readonly string[]
  passcodeChannels: readonly string[]
  offerPasskey: boolean
  signUp: string
  signUpDomains: readonly string[]
  signUpFields: readonly { field: string; label?: string | null | undefined; required: boolean }[]
  invitationLifetimeSeconds: number
  termsUrl?: string | null | undefined
  secondFactor: string
  secondFactorRoles: readonly string[]
  staySignedIn: string
  sessionIdleSeconds: number
  sessionLifetimeSeconds: number
  newDeviceNotice: boolean
  accountDeletionDays: number
}

const count = (number: number, unit: string): string =>
  `${number.toLocaleString('en')} ${unit}${number === 1 ? '' : 's'}`

/** Seconds in the largest unit of which they are a multiple: "36 hours". */
function describeDuration(seconds: number): string {
  const unit = findUnit(seconds)
  return count(seconds / UNITS[unit], unit.slice(0, -1))
}

const list = (words: readonly string[], type: 'conjunction' | 'disjunction' = 'disjunction'): string =>
  new Intl.ListFormat('en', { type }).format(words)

const PROFILE_WORDS: Record<string, string> = {
  givenName: 'first name',
  familyName: 'last name',
  middleName: 'middle name',
  preferredUsername: 'user name',
  birthdate: 'date of birth',
  zoneinfo: 'time zone',
  locale: 'language',
}

const describeField = ({ field, label, required }: DescribedSettings['signUpFields'][number]): string =>
  (label ?? PROFILE_WORDS[field] ?? field.replace('userMetadata.', '')) + (required ? '' : ' (optional)')

const CHANNELS: Record<string, string> = { EMAIL: 'e-mail', SMS: 'text message' }

const describeChannels = ({ passcodeChannels }: DescribedSettings): string =>
  `a six-digit code by ${list(passcodeChannels.map((channel) => CHANNELS[channel] ?? channel))}`

function describeMethods(settings: DescribedSettings): string {
  const words: Record<string, string> = {
    PASSCODE: describeChannels(settings),
    PASSKEY: 'a passkey',
    PROVIDER: 'an account at an identity provider',
  }
  return `People sign in with ${list(settings.signInMethods.map((method) => words[method] ?? method))}.`
}

/** What a new user does after the address is proven. */
function describeSignUpSteps({ signUpFields, termsUrl }: DescribedSettings): string {
  const steps = [
    'confirms it with a six-digit code',
    ...(signUpFields.length > 0 ? [`enters ${list(signUpFields.map(describeField), 'conjunction')}`] : []),
    ...(termsUrl ? ['agrees to the terms of use'] : []),
  ]
  return list(steps, 'conjunction')
}

function describeSignUp(settings: DescribedSettings): string {
  const { signUp, signUpDomains, signInMethods, passcodeChannels, invitationLifetimeSeconds } = settings
  if (signUp === 'OFF') return 'Nobody can create an account: administrators create users, or invite them.'
  if (signUp === 'INVITATION')
    return `A new account needs an invitation, whose link works for ${describeDuration(invitationLifetimeSeconds)}.`
  if (!signInMethods.includes('PASSCODE') || !passcodeChannels.includes('EMAIL'))
    return 'Nobody can create an account, because codes by e-mail are off.'
  const domains = signUpDomains.length > 0 ? list(signUpDomains) : 'a domain that is still to be named'
  const address = signUp === 'DOMAINS' ? `an e-mail address at ${domains}` : 'an e-mail address'
  return `Anybody can create an account with ${address}, ${describeSignUpSteps(settings)}.`
}

const ROLE_WORDS: Record<string, string> = {
  ADMIN: 'administrators',
  SUPPORT: 'support',
  AUDITOR: 'auditors',
}

function describeSecondFactor({ signInMethods, secondFactor, secondFactorRoles }: DescribedSettings): string {
  if (signInMethods.every((method) => method === 'PASSKEY'))
    return 'A passkey is two factors by itself, so nobody is asked for another.'
  if (secondFactor === 'REQUIRED')
    return 'Unless it was a passkey, everybody then presents a second factor, and sets one up if there is none.'
  const roles = list(
    secondFactorRoles.map((role) => ROLE_WORDS[role] ?? role),
    'conjunction',
  )
  const who =
    secondFactor === 'IF_ENROLLED'
      ? ['a person with an authenticator app enters its code']
      : secondFactorRoles.length === 0
        ? ['nobody is asked for a second factor']
        : []
  const required = roles ? [`${roles} always present a second factor`] : []
  return `Unless it was a passkey, ${list([...who, ...required], 'conjunction')}.`
}

const KEPT: Record<string, string> = {
  ALWAYS: 'The browser keeps the sign-in when it is closed',
  ASK: 'The browser keeps the sign-in if the person says so',
  OFF: 'The browser forgets the sign-in when it is closed',
}

const describeSession = (settings: DescribedSettings): string =>
  `${KEPT[settings.staySignedIn] ?? settings.staySignedIn}; it ends ${describeDuration(settings.sessionIdleSeconds)} after its last use, and ${describeDuration(settings.sessionLifetimeSeconds)} after the sign-in at the latest.`

/** What a person meets, one sentence a topic. */
export function describeSignIn(settings: DescribedSettings): string {
  const { signInMethods, offerPasskey, newDeviceNotice, accountDeletionDays } = settings
  return [
    describeSignUp(settings),
    signInMethods.length === 0 ? 'Nobody can sign in: there is no method.' : describeMethods(settings),
    signInMethods.length > 0 && describeSecondFactor(settings),
    offerPasskey &&
      signInMethods.includes('PASSKEY') &&
      signInMethods.length > 1 &&
      'A person without a passkey is offered to create one.',
    describeSession(settings),
    newDeviceNotice && 'A sign-in from a new browser is reported by mail.',
    accountDeletionDays > 0 &&
      `People can have their account deleted, which happens after ${count(accountDeletionDays, 'day')}.`,
  ]
    .filter(Boolean)
    .join(' ')
}
