import { CHANNELS, type Channel } from '../../../core/sign-in-methods.ts'
import type { InputRejection } from '../../interactions/interactions.ts'
import { describeInvalidAddress } from './address-texts.ts'

/** Seconds until a time; 0 when it has passed or there is none. */
export const computeWaitSeconds = (time: Date | null | undefined, now: Date): number =>
  Math.max(0, Math.ceil(((time?.getTime() ?? 0) - now.getTime()) / 1000))

const selectUnit = (seconds: number): [count: number, unit: string] => {
  if (seconds <= 90) return [seconds, 'second']
  return seconds <= 90 * 60 ? [Math.ceil(seconds / 60), 'minute'] : [Math.ceil(seconds / 3600), 'hour']
}

/** The wait until a time, in words; null when there is none. */
export function formatWait(resendAllowedAt: Date | null | undefined, now: Date): string | null {
  const seconds = computeWaitSeconds(resendAllowedAt, now)
  if (seconds === 0) return null
  const [count, unit] = selectUnit(seconds)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** The value of Retry-After: seconds. */
export const computeRetryAfter = ({ retryAt }: InputRejection, now = new Date()): string =>
  String(Math.max(1, computeWaitSeconds(retryAt ? new Date(retryAt) : null, now)))

const CODE_PROBLEMS = {
  wrong: 'That code is wrong. Check it, and use the newest message.',
  expired: 'That code has expired or was used. Request a new one.',
  exhausted: 'Too many attempts with this code. It no longer works: request a new one.',
}

const COUNTRY_PROBLEM = 'We can’t send text messages to this country. Use another way to sign in.'

/** One message for every reason, so that it does not reveal why. */
const PASSKEY_PROBLEM = 'This passkey did not work. Try again, or use a code.'
const PASSKEY_FACTOR_PROBLEM = 'This passkey did not work. Try again.'
const PASSKEY_SETUP_PROBLEM = 'The passkey could not be saved. Try again, or choose another way.'

/** One message for a wrong code and for one that was used. */
const SECOND_FACTOR_PROBLEMS = {
  totp: 'That code did not work. Wait for the next code of your app, and enter it.',
  recovery: 'That recovery code did not work. Each code works once.',
}

const TERMS_PROBLEM = 'The terms of use have changed. Read them and agree again.'

const PROVIDER_PROBLEMS = {
  'provider-canceled': (name: string) =>
    `You canceled the sign-in with ${name}. Try again, or choose another way.`,
  'provider-rejected': (name: string) =>
    `The sign-in with ${name} did not work. Try again, or choose another way.`,
  'provider-unavailable': (name: string) =>
    `${name} does not respond. Try again later, or choose another way.`,
}

function describePasskeyProblem(page: InputRejection['page']): string {
  if (page === 'passkey' || page === 'passkey-setup') return PASSKEY_SETUP_PROBLEM
  return page === 'second-factor' ? PASSKEY_FACTOR_PROBLEM : PASSKEY_PROBLEM
}

/** The message about a rejected input. `channels` are those of the tenant. */
export function describeInputRejection(
  { page, reason, retryAt, entered, provider = '' }: InputRejection,
  channels: readonly Channel[] = CHANNELS,
  now = new Date(),
): string {
  if (reason === 'address') return describeInvalidAddress(channels, entered)
  if (reason === 'country') return COUNTRY_PROBLEM
  if (reason === 'terms') return TERMS_PROBLEM
  if (reason === 'passkey') return describePasskeyProblem(page)
  if (reason === 'totp' || reason === 'recovery') return SECOND_FACTOR_PROBLEMS[reason]
  if (reason === 'fields') return 'Check the fields that are marked.'
  if (reason === 'closed') return 'New accounts cannot be created with this address.'
  if (reason === 'locked') return 'You cannot sign in with this address.'
  if (reason in PROVIDER_PROBLEMS)
    return PROVIDER_PROBLEMS[reason as keyof typeof PROVIDER_PROBLEMS](provider)
  if (reason !== 'attempts') return CODE_PROBLEMS[reason as keyof typeof CODE_PROBLEMS]
  const wait = formatWait(retryAt ? new Date(retryAt) : null, now)
  return `Too many attempts. Try again${wait ? ` in ${wait}` : ''}.`
}
