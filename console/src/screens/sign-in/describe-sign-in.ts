import { findUnit, UNITS, type Unit } from '../../parts/durations.ts'
import { language, t, tCount } from '../../words/words.ts'

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

const COUNTED: Record<Unit, (count: number) => string> = {
  days: (count) => tCount(count, '{count} day', '{count} days'),
  hours: (count) => tCount(count, '{count} hour', '{count} hours'),
  minutes: (count) => tCount(count, '{count} minute', '{count} minutes'),
  seconds: (count) => tCount(count, '{count} second', '{count} seconds'),
}

/** Seconds in the largest unit of which they are a multiple: "36 hours". */
function describeDuration(seconds: number): string {
  const unit = findUnit(seconds)
  return COUNTED[unit](seconds / UNITS[unit])
}

const list = (words: readonly string[], type: 'conjunction' | 'disjunction' = 'disjunction'): string =>
  new Intl.ListFormat(language, { type }).format(words)

const PROFILE_WORDS: Record<string, string> = {
  givenName: t('first name'),
  familyName: t('last name'),
  middleName: t('middle name'),
  preferredUsername: t('user name'),
  birthdate: t('date of birth'),
  zoneinfo: t('time zone'),
  locale: t('language'),
}

type SignUpField = DescribedSettings['signUpFields'][number]

const nameField = ({ field, label }: Pick<SignUpField, 'field' | 'label'>): string =>
  label ?? PROFILE_WORDS[field] ?? field.replace('userMetadata.', '')

const describeField = ({ field, label, required }: SignUpField): string =>
  required ? nameField({ field, label }) : t('{field} (optional)', { field: nameField({ field, label }) })

const CHANNELS: Record<string, string> = { EMAIL: t('e-mail'), SMS: t('text message') }

const describeChannels = ({ passcodeChannels }: DescribedSettings): string =>
  t('a six-digit code by {channels}', {
    channels: list(passcodeChannels.map((channel) => CHANNELS[channel] ?? channel)),
  })

function describeMethods(settings: DescribedSettings): string {
  const words: Record<string, string> = {
    PASSCODE: describeChannels(settings),
    PASSKEY: t('a passkey'),
    PROVIDER: t('an account at an identity provider'),
  }
  return t('People sign in with {methods}.', {
    methods: list(settings.signInMethods.map((method) => words[method] ?? method)),
  })
}

/** What a new user does after the address is proven. */
function describeSignUpSteps({ signUpFields, termsUrl }: DescribedSettings): string {
  const steps = [
    t('confirms it with a six-digit code'),
    ...(signUpFields.length > 0
      ? [t('enters {fields}', { fields: list(signUpFields.map(describeField), 'conjunction') })]
      : []),
    ...(termsUrl ? [t('agrees to the terms of use')] : []),
  ]
  return list(steps, 'conjunction')
}

function describeSignUp(settings: DescribedSettings): string {
  const { signUp, signUpDomains, signInMethods, passcodeChannels, invitationLifetimeSeconds } = settings
  if (signUp === 'OFF') return t('Nobody can create an account: administrators create users, or invite them.')
  if (signUp === 'INVITATION')
    return t('A new account needs an invitation, whose link works for {duration}.', {
      duration: describeDuration(invitationLifetimeSeconds),
    })
  if (!signInMethods.includes('PASSCODE') || !passcodeChannels.includes('EMAIL'))
    return t('Nobody can create an account, because codes by e-mail are off.')
  const domains = signUpDomains.length > 0 ? list(signUpDomains) : t('a domain that is still to be named')
  const address =
    signUp === 'DOMAINS' ? t('an e-mail address at {domains}', { domains }) : t('an e-mail address')
  return t('Anybody can create an account with {address}, {steps}.', {
    address,
    steps: describeSignUpSteps(settings),
  })
}

const ROLE_WORDS: Record<string, string> = {
  admin: t('administrators'),
  support: t('support'),
  auditor: t('auditors'),
  operator: t('operators'),
}

function describeSecondFactor({ signInMethods, secondFactor, secondFactorRoles }: DescribedSettings): string {
  if (signInMethods.every((method) => method === 'PASSKEY'))
    return t('A passkey is two factors by itself, so nobody is asked for another.')
  if (secondFactor === 'REQUIRED')
    return t(
      'Unless it was a passkey, everybody then presents a second factor, and sets one up if there is none.',
    )
  const roles = list(
    secondFactorRoles.map((role) => ROLE_WORDS[role] ?? role),
    'conjunction',
  )
  const who =
    secondFactor === 'IF_ENROLLED'
      ? [t('a person with an authenticator app enters its code')]
      : secondFactorRoles.length === 0
        ? [t('nobody is asked for a second factor')]
        : []
  const required = roles ? [t('{roles} always present a second factor', { roles })] : []
  return t('Unless it was a passkey, {factors}.', { factors: list([...who, ...required], 'conjunction') })
}

const KEPT: Record<string, string> = {
  ALWAYS: t('The browser keeps the sign-in when it is closed'),
  ASK: t('The browser keeps the sign-in if the person says so'),
  OFF: t('The browser forgets the sign-in when it is closed'),
}

const describeSession = (settings: DescribedSettings): string =>
  t('{kept}; it ends {idle} after its last use, and {lifetime} after the sign-in at the latest.', {
    kept: KEPT[settings.staySignedIn] ?? settings.staySignedIn,
    idle: describeDuration(settings.sessionIdleSeconds),
    lifetime: describeDuration(settings.sessionLifetimeSeconds),
  })

/** What a person meets, one sentence a topic. */
export function describeSignIn(settings: DescribedSettings): string {
  const { signInMethods, offerPasskey, newDeviceNotice, accountDeletionDays } = settings
  return [
    describeSignUp(settings),
    signInMethods.length === 0 ? t('Nobody can sign in: there is no method.') : describeMethods(settings),
    signInMethods.length > 0 && describeSecondFactor(settings),
    offerPasskey &&
      signInMethods.includes('PASSKEY') &&
      signInMethods.length > 1 &&
      t('A person without a passkey is offered to create one.'),
    describeSession(settings),
    newDeviceNotice && t('A sign-in from a new browser is reported by mail.'),
    accountDeletionDays > 0 &&
      t('People can have their account deleted, which happens after {duration}.', {
        duration: COUNTED.days(accountDeletionDays),
      }),
  ]
    .filter(Boolean)
    .join(' ')
}
